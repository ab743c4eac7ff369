"""The certificate of the step: which extensions can still lead to a cycle.

`certificate` works in registers, `certificate_wide` in memory; `required` knows of vertices that each cycle must pass.
Every schedule calls these functions. A change here changes all searches: check the counts by length on every arch.
"""
