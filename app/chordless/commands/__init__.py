"""The subcommands, one file each. They import at the top only what is light, the rest where it is used.

A new command is a module with `SUMMARY` and `add_parser`, and its name in `_GROUPS` of `chordless.cli`.
"""
