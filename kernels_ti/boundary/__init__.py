"""Counting without listing: frontier-based search, which is dynamic programming over a path decomposition.

Frontier-based search is the method of Simpath (D. Knuth) and of J. Kawahara, T. Inoue, H. Iwashita and S. Minato. The
boundary is their frontier, a piece of a cycle is a path fragment, the other end of a piece is a mate, and the symbol in
a slot is a value of the mate array.

The vertices of a block come in an order from `orders`. `states` has what a boundary can look like and what a vertex
changes in it. `count` moves the boundary over the graph: small blocks in numpy by `in_python`, others on the cores of a
CPU by `cores` or on a GPU by `tables`, with the kernels of `kernels`. `in_one_call` makes a count or a plan in one
call.

`longest` finds the longest cycle, `sample` draws cycles at random, and `participation` counts the cycles through each
vertex and edge: all three go `forward_and_back`.
"""
