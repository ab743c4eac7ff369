"""The screens of the dashboard, one to a file."""
