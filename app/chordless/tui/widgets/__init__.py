"""The widgets of the dashboard, one in each file."""
