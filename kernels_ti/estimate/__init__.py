"""The search in numpy on the host: estimates of its size, its parts, and the choice of a device.

`host_step` is the twin of the step and must agree with it path for path. `random_walk` and `estimate` sample with it;
`parts` splits a search for `--part I/N`.
"""
