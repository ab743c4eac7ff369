"""Cycles that a device has found: where they lie, their vertices in cycle order, participation of vertices and edges.

A new way to return cycles belongs here. The kernels are in `trace` and `participation_kernels`; the searches only store
bit rows and know nothing of this room's formats.
"""
