"""Many small graphs counted in one launch: a batch of molecules, all graphs of nine vertices.

`graphs` is how they lie in memory, `kernel` the launch, `search` its host loop, `count` the entry.
"""
