"""Measurements: the paper's table, other programs, batches, the start. A search needs nothing of this.

The documentation names, for each figure, the command of this room that measured it.
"""
