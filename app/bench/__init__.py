"""Measurements: the paper's Table 1 beside this machine, and other programs on the same graphs."""
