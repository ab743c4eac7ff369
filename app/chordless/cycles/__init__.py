"""Writing and reading cycles: text, JSON lines, bit rows, the parts of a run, exports, browsing.

A new output format begins in `output` for streams and in `export` for files of a finished run.
"""
