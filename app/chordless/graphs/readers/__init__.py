"""Readers of graph files, one module per family of formats; `chordless.graphs.load` chooses among them."""
