"""Kernels of the boundary method, and nothing else.

`tables` says what a vertex that comes makes of one state, and keeps all states in a hash table. On top of it `count`
and `lengths` carry numbers, and `ways` the largest value, and the way back to some states. `completion` tells states
that lead to no cycle. `stretch` counts on the cores of a CPU, which share nothing but a queue.
"""
