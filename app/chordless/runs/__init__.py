"""The folder of a run: what was asked, where it stands, what was reported; and the history of all runs.

A checkpoint is written by the engine alone; others read it, or leave an order in the mailbox.
"""
