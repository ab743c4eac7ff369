"""Kernels of the boundary method, and nothing else.

`children` says what a vertex that comes makes of one state, and `tables` keeps all states in a hash table. On top of
them `count` carries numbers, or values of polynomials, `remainders` numbers of one word, `optimum` the largest value
and `ways` the way back to some states. `completion` tells states that lead to no cycle. `parts` is for the cores of a
CPU, which share nothing but a queue: `stretch` counts on them.
"""
