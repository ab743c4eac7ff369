"""The way back through kept layers, for answers that are more than a number.

`blocks` has the blocks with their orders, `kept_way` keeps layers, and `keeping` their checkpoints. `layers` says what
states become, and carries the ways to each along, or the largest value; `history` goes forward and back in numpy.
`device_ways` and `device_optimum` do the same in kernels, for large blocks.
"""
