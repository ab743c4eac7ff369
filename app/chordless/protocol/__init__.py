"""What the engine and its clients say to each other, and recordings of it.

`orders` go to the engine, `events` come from it, `codec` is their form in JSON lines. A new field needs a default, so
that older recordings can still be read.
"""
