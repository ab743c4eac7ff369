"""The one spec of the method: how a state lies in words, and what a vertex changes in it.

`packing` puts the symbols of a state into words. `changes` tables what each vertex changes, applies it to all states
in numpy, and lays it out for `kernels_ti.boundary.kernels.tables`. `block` has a block with its order, and all of
this.
"""
