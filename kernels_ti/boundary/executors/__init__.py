"""A block vertex by vertex, in three ways: in numpy, on the cores of a CPU, and in the tables of a GPU.

`forward` is what all of them have in common, and drops states that lead to no cycle. `in_python` counts in numpy.
`on_cores` counts on cores: each takes whole `parts` of the states through a stretch of vertices. `tables` lets the
vertices come one by one in two hash tables that change places, and `on_device` counts on it, also by length. Where the
states do not fit with a number for each length, `in_passes` goes over a block several times, and `remainders` counts
all cycles together in remainders modulo primes.
"""
