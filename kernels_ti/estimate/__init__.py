"""The search in numpy on the host: estimates of its size, its parts, and the choice of a device.

`host_step` is the step of `kernels_ti.step` in numpy and must agree with it path for path: change both together.
`random_walk` samples the search with it, by the strata of `strata`; `estimate` puts the samples together; `parts`
splits a search for `--part I/N`. `random_cycle` draws a cycle. `usual_rate` is the speed of a search, where none is
measured.
"""
