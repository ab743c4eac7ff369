"""States with their numbers, in numpy.

`states` puts equal states together, and `completion` tells those that lead to no cycle. `saved` is a count between two
vertices, which goes on on any device.
"""
