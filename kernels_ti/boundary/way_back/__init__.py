"""The way back through kept layers, for answers that are more than a number.

`blocks` has the blocks with their orders, and the means of a way through them. `layers` says what states become,
carries the ways to each along, or the largest value, and keeps layers. `history` goes forward and back in numpy, and
`device_ways` in kernels, for large blocks.
"""
