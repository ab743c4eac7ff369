"""What asks for more than a number: a block is gone through forward and back.

`blocks` has the blocks with their orders, `layers` keeps the way, `numbers`, `gains` and `weights` are exact.
`counting` carries the ways to each state along, `optimum` the largest value. `device_ways` and `device_optimum` do the
same in kernels, for large blocks. The cycles through vertices and edges are counted in kernels by `cores_shares` on the
cores of a CPU, and by `device_shares` on a GPU.
"""
