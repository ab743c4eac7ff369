"""Kernels of the boundary method, and nothing else.

`tables` lets a vertex come in all states and keeps the children in a hash table. On top of it `count` carries numbers,
`points` values of polynomials, `optimum` the largest value and `ways` the way back to some states; `shares` goes back
through all states. `completion` tells states that lead to no cycle, and `gather` copies rows without gaps. `parts` is
for the cores of a CPU, which share nothing but a queue: `stretch` counts on them, and `linked` keeps what each state
becomes.
"""
