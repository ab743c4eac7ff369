"""The engine: the child process that searches, and the handle by which front ends control it.

`process` holds the handle `EngineProcess` and must not load taichi. The other modules run in the child and may load it.
Front ends import only `process`.
"""
