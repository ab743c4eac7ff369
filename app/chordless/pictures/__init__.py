"""Pictures and pages of a run: charts, drawings of cycles, the report.

Only this room loads matplotlib.
"""
