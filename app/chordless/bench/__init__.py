"""Measurements: the paper's table, other programs, batches, the start. A search needs nothing of this.

Each bench has rows (`rows.Row`) of series (`measure.Series`), which are measured in turns and shown in one form of
table. The documentation names, for each figure, the command that measured it.
"""
