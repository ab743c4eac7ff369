"""The dashboard. It never loads taichi: an engine does the work and reports events.

A new screen needs one module in `screens` and one action in `actions`. Whatever several screens draw is a widget.
"""
