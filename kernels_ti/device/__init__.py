"""The one place that opens Taichi: arch, limits, self-test, memory, and how work items place what they write.

A new arch belongs in `device`. A new device feature that kernels rely on gets a check in `selftest`. No other room may
call `ti.init` or read its configuration.
"""
