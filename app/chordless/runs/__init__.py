"""The folder of a run: its command, its checkpoint, its events; and the history of all runs.

Only the engine writes a checkpoint. Other processes read it, or leave an order in the mailbox.
"""
