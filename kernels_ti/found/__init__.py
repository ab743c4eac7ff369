"""Cycles that a device has found: where they lie, their vertices in cycle order, how many pass each vertex or edge.

A new way to hand cycles over begins here. The kernels are in `trace` and `participation_kernels`.
"""
