"""The subcommands, one file each: a command line loads its own. Packages heavier than numpy are imported where used.

A new command is a module of its name with `DESCRIPTION`, `EXAMPLES`, `add_arguments`, `act` and, if need be, `check`.
It stands with its line in the help in `_GROUPS` of `chordless.cli`.
"""
