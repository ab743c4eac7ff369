"""Counting without listing: dynamic programming over a path decomposition.

`plan` splits a graph into blocks, `order` chooses the vertex order of each, `annealing` looks for better ones where the
count is long, and `walk` tells what each vertex changes. `transitions` tells what becomes of each state when a vertex
comes, `states` holds the states with their numbers, and `count` moves the boundary over the graph. Small blocks are
counted in numpy, by `in_python`, and `completion` drops states that lead to no cycle. `kernels` has what a work item
does with a state of the others. `on_cores` counts on the cores of a CPU: each takes whole `parts` of the states through
`parts_kernels`, and `changes` has tables for them. `on_device` counts on a GPU: it launches `count_kernel` on the
tables of `device_tables`. `saved` is a count between two vertices, which goes on on any device; `parted_states` and
`rows` turn its states into the rows of parts and of tables, and back.

Where the states do not fit with a number for each length, `in_passes` goes over a block several times: `at_points`
carries values of polynomials by `points_kernel`, and `residues` makes exact counts of them. Where they do not fit into
two tables of a device at all, `in_rounds` makes a step in rounds over the memory of the host, with `gather_kernels`.
Both drop states that lead to no cycle, as `dropping_tables` does.

What asks for more than a number goes through a block forward and back: `layers` keeps the way, `blocks` has the blocks,
`numbers`, `gains` and `weights` are exact. `longest` finds the longest cycle by `optimum`, large blocks by
`device_optimum` with `optimum_kernels`. `sample` draws cycles at random, from large blocks by `device_ways` with
`ways_kernels`. `participation` counts those through each vertex and edge. Both go by `counting`.
"""
