"""Readers of graph files, one module for each family of formats; `chordless.graphs.load` chooses among them.

A new format is a module here with a function from a `Source` to a graph. Readers report errors with `Source.error`,
which names the file and the line, and drop nothing silently: `Source.note` tells the user.
"""
