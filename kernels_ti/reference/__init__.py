"""Searches in plain Python: the paper's sequential algorithm, the oracle of the tests, and the search of a tiny graph.

Nothing here loads Taichi. `algorithm` stays as close to the paper as can be; what is to be fast belongs elsewhere.
"""
