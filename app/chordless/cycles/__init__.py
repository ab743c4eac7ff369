"""Writing and reading cycles: text, JSON lines, bit rows, the parts of a run, exports, browsing.

A new output format belongs in `output` if a search writes it, and in `export` if it is made from a finished run. Every
output continues at a checkpoint's position: do not break that when you change a format.
"""
