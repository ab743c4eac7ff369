"""The one place that opens a device: arch, limits, self-test, memory, and how work items place what they write.

A new arch belongs in `device`. A new device feature that kernels rely on gets a check in `selftest`. Taichi itself is
started, and its settings are read, by `kernels_ti.taichi_door`.
"""
