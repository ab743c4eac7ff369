"""The screens of the dashboard, one in each file."""
