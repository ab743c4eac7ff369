"""Readers of graph files, one module per family of formats; `app.formats` chooses among them."""
