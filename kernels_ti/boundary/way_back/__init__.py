"""The way back through kept layers, for answers that are more than a number.

`blocks` has the blocks with their orders, and the means of a way through them. `kept_way` keeps layers. `layers` says
what states become, and carries the ways to each along, or the largest value; `history` goes forward and back in numpy,
and `device_ways` in kernels, for large blocks.
"""
