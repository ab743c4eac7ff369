"""The subcommands, one file each. They import at the top only what is light, the rest where it is used.

A new command is a module of its name with `SUMMARY`, `DESCRIPTION`, `EXAMPLES`, `add_arguments`, `act` and, if need be,
`check`, and it stands in `_GROUPS` of `chordless.cli`.
"""
