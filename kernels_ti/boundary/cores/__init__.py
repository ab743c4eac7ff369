"""A block on the cores of a CPU: each takes whole parts of the states through a stretch of vertices.

`parts` has the parts of a layer, `changes` the tables of what each vertex changes, `on_cores` counts with them, and
`parted_states` turns the rows of parts into saved states and back.
"""
