"""The schedule of CUDA and Vulkan: all paths of one length at a time, as in the paper, in slices that fit.

`kernels` and `kernels_wide` are the launches, `warp_batch` the form for CUDA, `arena` where paths wait, `queue` the
levels of one launch, `search` the host loop. The stages hide from `search` whether rows are narrow or wide.
"""
