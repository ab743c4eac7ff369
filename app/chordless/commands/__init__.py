"""The subcommands, one file each. They import at the top only what is light, the rest where it is used."""
