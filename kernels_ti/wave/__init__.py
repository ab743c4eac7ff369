"""The schedule of CUDA and Vulkan: all paths of one length together, as in the paper, in slices that fit.

`kernels` and `kernels_wide` are the launches, `one_record` the work of one thread, `warp_batch`, `warp_batch_wide` and
`warp_queue` that of a warp on CUDA, `arena` where paths wait, `queue` the levels of one launch, `search` the host loop.
The stages hide from `search` whether rows are narrow or wide.
"""
