"""The search in plain Python: the paper's algorithm, the oracle of the tests, and the search of a tiny graph.

Nothing here loads Taichi. `algorithm` is the search, `search` cuts it into slices, `at_once` tries it on a tiny graph.
"""
