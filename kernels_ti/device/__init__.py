"""The one place that opens Taichi: arch, limits, self-test, memory, and how work items place what they write.

A new arch begins in `device`; a new thing that kernels rely on gets a check in `selftest`. No other room calls
`ti.init` or reads its configuration.
"""
