"""Cycles on their way out and back in: text, JSON lines, bit rows, parts of a run, exports, browsing.

A new output format begins in `output` for streams and in `export` for files of a finished run.
"""
