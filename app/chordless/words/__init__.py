"""Words for people: numbers, durations and sizes in a few characters, and foreign text without orders to a terminal.

Every front end takes its wording from here, so that one thing reads the same everywhere.
"""
