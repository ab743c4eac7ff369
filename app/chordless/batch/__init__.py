"""Batches: many graphs in one engine. Manifest, inputs, output lines, tables.

`client` is for the command and the dashboard. `runner` and `alone` run in the engine.
"""
