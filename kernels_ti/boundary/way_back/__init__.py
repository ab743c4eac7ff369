"""The way back through kept layers, for answers that are more than a number.

`blocks` has the blocks with their orders, `layers` keeps the way, and `keeping` its checkpoints. `counting` carries the
ways to each state along, `optimum` the largest value. `device_ways` and `device_optimum` do the same in kernels, for
large blocks.
"""
