"""The parser of the command line: its errors name the nearest right word, its help comes in groups."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from chordless.words.shown import error_line

USAGE_EXIT_CODE = 2
COMMAND_ALONE = "tui"
"""The command that the program's name alone stands for, on a terminal."""
_LIKENESS = 0.7
_MOST_OPTIONS_IN_USAGE = 4
_LIKE_A_NEGATIVE_NUMBER = re.compile(r"-\.?\d")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Writes ``[options]`` into the usage where there are many, because the help lists them below."""

    def add_usage(self, usage: str | None, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Add the usage; called by argparse."""
        left_out = [action for action in actions if action.option_strings and not action.required]
        if len(left_out) > _MOST_OPTIONS_IN_USAGE:
            named = [action for action in actions if action not in left_out]
            # argparse writes options before arguments, and "[options]" is an argument to it.
            required = [
                argparse.Action([], each.dest, metavar=f"{each.option_strings[0]} {each.metavar}")
                for each in named
                if each.option_strings
            ]
            arguments = [each for each in named if not each.option_strings]
            actions, groups = [argparse.Action([], "options", metavar="[options]"), *required, *arguments], []
        super().add_usage(usage, actions, groups, prefix)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are two lines and name the nearest option or choice.

    Only ``--help`` calls the functions of `below`, which return the texts below the options: they may import modules
    that take long.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options = {"formatter_class": _Formatter, "allow_abbrev": False, **options}
        super().__init__(*arguments, **options)
        self._positionals.title = "arguments"
        # No option begins so; a vertex of a map does, -73.4,52.5.
        self._negative_number_matcher = _LIKE_A_NEGATIVE_NUMBER
        self.below: list[Callable[[], str]] = []

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a command line. Superfluous arguments are reported by the subcommand that they follow."""
        options, left = self.parse_known_args(args, namespace)
        if left:
            getattr(options, "parser", self).error(f"too many arguments: {' '.join(left)}")
        return options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a command line. Unknown options come first, so that their values are not taken for arguments."""
        args = list(sys.argv[1:] if args is None else args)
        self._refuse_unknown_options(args)
        return super().parse_known_args(args if self._has_subcommands else self._options_first(args), namespace)

    @property
    def _has_subcommands(self) -> bool:
        return any(isinstance(action, argparse._SubParsersAction) for action in self._actions)

    def _refuse_unknown_options(self, args: Sequence[str]) -> None:
        for word in args:
            if word == "--" or (self._has_subcommands and not _is_option(word)):
                return
            name = word.partition("=")[0]
            if (
                _is_option(word)
                and name not in self._option_string_actions
                and (word.startswith("--") or word[:2] not in self._option_string_actions)
            ):
                self.error(f"there is no option {name}{self._hint_at_option(name, args)}")

    def _options_first(self, args: Sequence[str]) -> list[str]:
        """Return a command line with its options before its arguments.

        argparse gives up on arguments that may be left out, or of which there may be several, at the next option.
        """
        options: list[str] = []
        arguments: list[str] = []
        left = list(args)
        while left:
            word = left.pop(0)
            if word == "--":
                return [*options, word, *arguments, *left]
            if not _is_option(word):
                arguments.append(word)
                continue
            options.append(word)
            values = self._values_behind(word)
            if values is None:
                return list(args)
            for _ in range(values):
                if not left or left[0] == "--" or _is_option(left[0]):
                    return list(args)  # A value is missing, and no argument must stand in for it.
                options.append(left.pop(0))
        return options + arguments

    def _values_behind(self, word: str) -> int | None:
        """Return how many of the next words are values of an option: none of ``--limit=5``, ``-k5``, or ``-q``.

        None where the value may be left out: before an argument, that would become the value.
        """
        action = self._option_string_actions.get(word)
        if action is None and not word.startswith("--"):
            # Letters of several options: all of them but the last have no value, or the others are its value.
            letters = [self._option_string_actions.get(f"-{letter}") for letter in word[1:]]
            action = letters[-1] if all(each is not None and each.nargs == 0 for each in letters[:-1]) else None
        if action is None:
            return 0
        if action.nargs is None:
            return 1
        return action.nargs if isinstance(action.nargs, int) else None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is not among the choices; called by argparse."""
        if action.choices is None or value in action.choices:
            return
        known = list(action.choices)
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"there is no command {value!r}{did_you_mean(value, known) or self._hint_at_command(value)}")
        said = f"{value!r} is none of {', '.join(known)}{did_you_mean(value, known)}"
        if len(known) == 1:
            said = f"{value!r} cannot stand here, only {known[0]!r}"
        raise argparse.ArgumentError(action, said)

    def _hint_at_command(self, word: str) -> str:
        """Return a hint for a word that stands where a command should, and is like none."""
        return ""

    def _hint_at_option(self, name: str, args: Sequence[str]) -> str:
        """Return a hint for an option that this parser does not have."""
        return did_you_mean(name, self._option_string_actions)

    def format_help(self) -> str:
        """Return the help text."""
        self.epilog = self._text_below()
        return super().format_help()

    def _text_below(self) -> str:
        return "\n\n".join(text() for text in self.below)

    def print_help(self, file: Any = None) -> None:
        """Print the help text. Unlike argparse, raise the error of a closed pipe or a full disk."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Print the error and the command that shows the help, and exit."""
        line = error_line(message.removeprefix("argument "), sys.stderr)
        sys.stderr.write(f"{self.prog}: error: {line}\n(see {self.prog} --help)\n")
        raise SystemExit(USAGE_EXIT_CODE)


class ProgramParser(Parser):
    """The parser of the whole command line, whose help shows the commands in groups."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._subparsers_action: argparse._SubParsersAction[Parser] = self.add_subparsers(
            dest="command", metavar="COMMAND", parser_class=Parser
        )
        self._command_groups: list[tuple[str, list[argparse.Action]]] = []

    def add_commands(self, title: str, commands: Mapping[str, str], only: Sequence[str] | None) -> None:
        """Add a group of subcommands, each by its name and its line in the help.

        A module of its name has all else; if `only` some commands are asked for, no other module is loaded.
        """
        listed = self._subparsers_action._choices_actions
        before = len(listed)
        for name, summary in commands.items():
            parser = self._subparsers_action.add_parser(name, help=summary)
            if only is None or name in only:
                module = import_module(f"chordless.commands.{name}")
                parser.description = module.DESCRIPTION
                parser.below.append(partial(examples, *module.EXAMPLES))
                parser.set_defaults(act=module.act, check=getattr(module, "check", None), parser=parser)
                module.add_arguments(parser)
        self._command_groups.append((title, listed[before:]))

    def _hint_at_command(self, word: str) -> str:
        """Name the command that whoever types nothing but a graph is likely to want."""
        return f"; to count the cycles of a graph: {self.prog} count {shlex.quote(word)}"

    def _hint_at_option(self, name: str, args: Sequence[str]) -> str:
        """Say where the option belongs if it is one of the command that follows it."""
        commands = self._subparsers_action.choices
        named = next((word for word in args if word in commands), None)
        command = named or COMMAND_ALONE
        if name in commands[command]._option_string_actions:
            where = "without a command" if named is None else "before the command"
            return f" {where}: {self.prog} {command} {name}"
        return super()._hint_at_option(name, args)

    def format_help(self) -> str:
        """Return the help text: the commands in their groups, the options, what stands below."""
        formatter = self._get_formatter()
        options = [action for action in self._actions if action is not self._subparsers_action]
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for title, actions in (*self._command_groups, ("options", options)):
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self._text_below())
        return formatter.format_help()


def _is_option(word: str) -> bool:
    """Return whether a word of a command line is an option: no name with a blank or with a digit after the dash."""
    if word in ("-", "--") or " " in word.partition("=")[0]:
        return False
    return word.startswith("-") and not _LIKE_A_NEGATIVE_NUMBER.match(word)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at known words that begin with, or are spelt like, `word`; "" if there is none."""
    words = list(known)
    longer = [whole for whole in words if whole.startswith(word)]
    close = longer[:2] or difflib.get_close_matches(word, words, n=1, cutoff=_LIKENESS)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def examples(*lines: str) -> str:
    """Return a help section with example commands."""
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])
