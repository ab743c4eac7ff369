"""The step: from a path to the cycles that it closes and the paths that extend it. Every schedule calls it.

`triplets` is stage 1 (Algorithm 3 of the paper). `choice_of_end` is the core of stage 2 (Algorithm 4): it says who
closes and who extends a path. `certificate` (in registers) and `certificate_wide` (in memory) keep the extensions that
can still lead to a cycle, `required` knows of vertices that each cycle must pass, `chords` of directed graphs and
multigraphs. A change here changes all searches: check the counts by length on every arch, and change
`kernels_ti.estimate.host_step`, the same step in numpy, alike (`tests/test_step.py` compares the two).
"""
