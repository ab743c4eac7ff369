"""Counting without listing: frontier-based search, which is dynamic programming over a path decomposition.

Frontier-based search is the method of Simpath (D. Knuth) and of J. Kawahara, T. Inoue, H. Iwashita and S. Minato. The
boundary is their frontier, a piece of a cycle is a path fragment, the other end of a piece is a mate, and the symbol in
a slot is a value of the mate array.

Four rooms: `spec` says how a state lies in words and what a vertex changes in it, `values` has the numbers that states
carry along, `executors` let the vertices of a block come, with the kernels of `kernels`, and `way_back` goes back
through layers that were kept. The vertices come in an order from `orders`.

`count` moves the boundary over the graph: small blocks in numpy, others on the cores of a CPU or on a GPU.
`in_one_call` makes a count or a plan in one call. `longest` finds the longest cycle, `sample` draws cycles at random,
and `participation` counts the cycles through each vertex and edge.
"""
