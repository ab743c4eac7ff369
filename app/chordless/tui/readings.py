"""How a form reads graphs: the choices, their help, and the options that they stand for."""

from __future__ import annotations

from typing import TypedDict


class ReadingOptions(TypedDict, total=False):
    """Options of `chordless.graphs.load.load_graph`."""

    simplify: bool
    directed: bool
    multigraph: bool


AS_IT_IS, OVERLAP = "as-is", "overlap"
READINGS = (
    (AS_IT_IS, "as it is"),
    ("simplified", "simplified"),
    ("directed", "directed"),
    ("multigraph", "multigraph"),
    (OVERLAP, "food web"),
)
"""Name and label of each choice."""

READING_HELP = {
    AS_IT_IS: "",
    "simplified": "Underlying graph: no loops, repeats, directions.",
    "directed": "Each edge leads from the first vertex to the second.",
    "multigraph": "Self-loops and parallel edges are kept: cycles too.",
    OVERLAP: "Niche overlap: two species that share a living prey.",
}
_OPTIONS: dict[str, ReadingOptions] = {
    "simplified": {"simplify": True},
    "directed": {"directed": True},
    "multigraph": {"multigraph": True},
}
# Messages name options of the command line. The form has other names for them.
_NAMES_HERE = (
    ("--multigraph keeps them", "`multigraph` keeps them"),
    ("say so with --directed, or use --simplify", "choose `directed` or `simplified`"),
    ("; leave --directed out", ": choose `as it is`"),
    ("use --simplify to drop", "choose `simplified` to drop"),
    ("--simplify", "`simplified`"),
    ("`chordless overlap`", "`food web`"),
    ("count its cycles without `overlap`", "choose `as it is`"),
    ("`chordless help specs` lists the kinds", "`Examples` lists the kinds"),
    ("this is a folder, not a graph file", "this is a folder: pick a file of it, or count many on Batch (alt+5)"),
    (" — ", ": "),
)


def options_of(reading: str) -> ReadingOptions:
    """Return the options that one of `READINGS` stands for: none for a food web, which `load_graph` does not read."""
    return _OPTIONS.get(reading, {})


def said_here(message: str) -> str:
    """Translate a message of a reader, which names options of the command line, into the words of a form."""
    for there, here in _NAMES_HERE:
        message = message.replace(there, here)
    return message
