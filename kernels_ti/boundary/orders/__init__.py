"""In which order the vertices come, and what each changes.

`order` finds an order with small boundaries, and keeps those that were found lately. `annealing` looks for better ones
with the kernels of `annealing_kernels`. `plan` splits a graph into blocks that have an order each, and tells how many
states are expected. `walk` tells what each vertex changes in the boundary.
"""
