"""``chordless completion``: scripts that let bash, zsh and fish complete the command line."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from chordless.commands.help import TOPICS

SHELLS = ("bash", "zsh", "fish")

DESCRIPTION = """\
Print a script that completes commands, options, their values, file names and
specs of graphs when TAB is pressed. Have it read at the start of the shell, by
a line in ~/.bashrc or ~/.zshrc, or put it where fish looks for it.
"""
EXAMPLES = (
    'eval "$(chordless completion bash)"     # in ~/.bashrc',
    'eval "$(chordless completion zsh)"      # in ~/.zshrc, after compinit',
    "chordless completion fish > ~/.config/fish/completions/chordless.fish",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def act(options: argparse.Namespace) -> int:
    """Print the script, return the exit code."""
    import shtab

    parser = options.whole_parser
    _prepare(parser)
    commands = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    topic = next(action for action in commands["help"]._actions if action.dest == "topic")
    topic.choices = [*TOPICS, *commands]
    print(shtab.complete(parser, shell=options.shell))
    return 0


def _files_and_specs() -> dict[str, Any]:
    """Return how each shell completes a graph: by the names of files, and an example of each spec that begins so."""
    from chordless.graphs.generators import known_kinds

    specs = shlex.join(kind.example for kind in known_kinds())
    beside = f'[ -z "$1" ] || compgen -W {shlex.quote(specs)} -- $1'
    return {
        "bash": "_chordless_graphs",
        "zsh": "_chordless_graphs",
        "fish": "(__fish_complete_path (commandline -ct)) " + specs,
        "preamble": {
            "bash": f"_chordless_graphs() {{ compgen -f -- $1; {beside}; }}",
            "zsh": f"_chordless_graphs() {{ _files; [[ -z $PREFIX ]] || compadd -- {specs}; }}",
        },
    }


def _prepare(parser: argparse.ArgumentParser) -> None:
    """Mark the arguments that file or folder names complete, by their metavar; describe each command in one line."""
    import shtab

    from chordless.graphs.load import ALL_FORMATS, FORMATS

    graph = _files_and_specs()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                # Shells show the first line of a description. It may be half a sentence, so the summary replaces it.
                command.description = next(choice.help for choice in action._choices_actions if choice.dest == name)
                _prepare(command)
        elif action.choices is None and isinstance(action.metavar, str):
            if "GRAPH" in action.metavar or action.metavar == "SPEC":
                action.complete = graph  # type: ignore[attr-defined]
            elif any(word in action.metavar for word in ("FILE", "WEB", "RUN", "EVENTS")):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif "DIR" in action.metavar:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif action.dest == "file_format":
                # The parser has no choices here, because every command would import the readers to know them.
                action.choices = ALL_FORMATS if "--graph-format" in action.option_strings else FORMATS
