"""The schedule of the CPU: each worker searches depth first through a stack of its own.

`kernel` and `kernel_wide` are the launches, `depth_first` the search of one worker, `frames` what lies on its stack,
`found_cycles` the buffer for cycles, `search_stage_1` the triplets and triangles, `search` the host loop that hands
out seeds.
"""
