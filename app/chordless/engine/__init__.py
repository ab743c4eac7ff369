"""The engine: the child process that searches, and the handle on it.

`process` is the handle, for every front end; the rest runs in the child and may load taichi.
"""
