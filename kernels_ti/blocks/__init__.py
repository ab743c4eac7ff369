"""From a graph to what a device searches: biconnected blocks, degree labelling, balls, bit rows.

All of it is numpy on the host. Algorithm 2 of the paper is `degree_labelling`. To restrict a search further, or to lay
blocks out in another way, change this room; nothing here may know of a device or of a schedule.
"""
