"""What a boundary can look like, in numpy.

`transitions` tells what becomes of each state when a vertex comes, `states` holds the states with their numbers, and
`completion` tells those that lead to no cycle. `saved` is a count between two vertices, which goes on on any device.
"""
