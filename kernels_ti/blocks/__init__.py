"""From a graph to the blocks that a device searches: biconnected blocks, degree labelling, balls, bit rows.

All of it is numpy on the host. Algorithm 2 of the paper is `degree_labelling`. A new restriction of the search, or a
new layout of the blocks, belongs here. Nothing here may import a device or a schedule.
"""
