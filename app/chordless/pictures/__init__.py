"""Charts of runs, drawings of cycles, and the report page.

Only this room loads matplotlib.
"""
