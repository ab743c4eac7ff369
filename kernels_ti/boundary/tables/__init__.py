"""A block in kernels on a GPU, in two hash tables that change places.

`tables` lets the vertices come one by one, `on_device` counts on it, and `rows` turns rows of a table into states and
back. `dropping` leaves out states that lead to no cycle. Where the states do not fit with a number for each length,
`in_passes` goes over a block several times: `at_points` carries values of polynomials, and `residues` makes exact
counts of them.
"""
