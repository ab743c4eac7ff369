"""Batches: many graphs in one engine. Manifest, inputs, output lines, tables.

`client` is for the command and the dashboard. `runner` and `counting` run in the engine.
"""
