"""Cycles that a device has found: where they lie, their vertices in cycle order, participation of vertices and edges.

A new way to return cycles belongs here: `to_host` brings them to the host, and nothing else does. `row_store` keeps the
bit rows of all slices side by side, `cycle_order` puts them in cycle order when that is asked for. The kernels are in
`vertex_rows`, `trace` and `participation_kernels`. They read the bit rows that a search has stored, see
`stored.StoredCycles`, and never change them.
"""
