"""A block vertex by vertex, in three ways: in numpy, on the cores of a CPU, and in the tables of a GPU.

`forward` is what all of them have in common. `in_python` counts in numpy. `on_cores` counts on cores: each takes whole
`parts` of the states through a stretch of vertices, and `parted_states` turns their rows into saved states and back.

`tables` lets the vertices come one by one in two hash tables that change places, `on_device` counts on it, and `rows`
turns rows of a table into states and back. Where the states do not fit with a number for each length, `in_passes` goes
over a block several times, and `at_points` carries values of polynomials. `launches` is for all kernels.

`completion` tells states that lead to no cycle; `dropping` leaves them out of tables.
"""
