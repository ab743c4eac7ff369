"""Graphs in: file formats, generators, food webs and molecules.

A new file format is one module in `readers` and one line in `load`; a new family of graphs is one function in
`generators`.
"""
