"""Measurements: the paper's table, other programs, batches. Nothing here is needed to search.

A figure in the documentation names the command here that measured it.
"""
