"""The messages between the engine and its clients, and their recordings.

`orders` go to the engine, `events` come from it, `codec` is their form in JSON lines. A new field needs a default, so
that older recordings can still be read.
"""
