"""Counting without listing: dynamic programming over a path decomposition.

`order` chooses the vertex order, `states` holds the states of a boundary, `count` moves it over the graph.
"""
