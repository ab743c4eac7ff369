"""Many graphs in one engine: manifest, inputs, output lines, tables.

`client` is for the command and the dashboard; `runner` and `alone` work in the engine.
"""
