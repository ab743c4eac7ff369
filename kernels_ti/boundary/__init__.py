"""Counting without listing: dynamic programming over a path decomposition.

`plan` splits a graph into blocks, `order` chooses the vertex order of each, and `walk` tells what each vertex changes.
`states` holds the states of a boundary, and `count` moves it over the graph. Small blocks are counted in Python. The
others are counted by `on_device`, which launches `kernels`.
"""
