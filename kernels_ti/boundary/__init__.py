"""Counting without listing: dynamic programming over a path decomposition.

`plan` splits a graph into blocks, `order` chooses the vertex order of each, `states` holds the states of a boundary,
`count` moves it over the graph.
"""
