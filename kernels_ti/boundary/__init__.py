"""Counting without listing: dynamic programming over a path decomposition.

The vertices of a block come in an order from `orders`. `states` tells what a boundary can look like. `count` moves the
boundary over the graph: small blocks in numpy by `in_python`, others on the cores of a CPU by `cores` or on a GPU by
`tables`, with the kernels of `kernels`. `in_one_call` is a count or a plan as one call.

`longest` finds the longest cycle, `sample` draws cycles at random, and `participation` counts the cycles through each
vertex and edge: all three go `forward_and_back`.
"""
