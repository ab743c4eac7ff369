"""In which order the vertices come, and what each changes.

`order` finds an order with small boundaries, `annealing` looks for better ones with the kernels of `annealing_kernels`,
`plan` splits a graph into blocks that have an order each, and `known` keeps those that were found lately. `walk` tells
what each vertex changes in the boundary, and `work` how many of the states that are expected have been met.
"""
