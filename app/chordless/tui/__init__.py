"""The dashboard. It never loads taichi: an engine does the work and reports events.

A new screen is one module in `screens` and one action in `actions`; what several screens draw is a widget.
"""
