"""The widgets of the dashboard, one to a file."""
