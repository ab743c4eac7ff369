"""``chordless resume``: continue a run that was stopped or killed, from its last checkpoint."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from chordless.commands import longest, paths, sample
from chordless.commands import options as shared
from chordless.commands.session import run_engine
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.protocol.recording import recorded
from chordless.runs.directory import RunDirectory
from chordless.values import name_of_input
from kernels_ti import OptionError

DESCRIPTION = """\
Continue a run of `chordless count --checkpoint DIR`, `chordless list
--checkpoint DIR` or `chordless list -o DIR/` from its last checkpoint, or one
of `chordless paths`, `longest` or `sample` with `--checkpoint DIR`. At the
end, print the result of the whole run. A listing is cut back to the checkpoint
first: no cycle is lost and none comes twice. DIR holds a copy of the graph, so
the graph's own file is not needed.

The search stays the same. The arch, the threads, the memory and the stops may
be changed; a limit or a timeout of an earlier session no longer holds. A
finished run prints its result again.
"""
EXAMPLES = ("chordless resume week", "chordless resume week --arch cuda --timeout 8h --checkpoint-every 5m")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("directory", type=name_of_input, metavar="DIR", help="the run directory")
    shared.add(parser, "--json", "for a count or a longest cycle: print one JSON object")
    group = parser.add_argument_group("when to stop")
    shared.add_stops(group, "stop once all sessions together have found, or listed, N cycles")
    group = parser.add_argument_group("how to run")
    shared.add_device(group, resumed=True)
    shared.add_cluster(group)
    shared.add_checkpoint_every(group, resumed=True)
    shared.add_reporting(parser)


check = shared.check_cluster


def act(options: argparse.Namespace) -> int:
    """Resume the run, print the result of all its sessions, return the exit code."""
    directory = RunDirectory(Path(options.directory))
    command = directory.command()
    changed = _changed(command, options)
    if command.pick != "all" and command.output_format != "parts":
        names = ("limit", "threads", "cluster", "gpus", *["json"] * (command.pick == "sample"))
        for option in shared.given(options.parser, options, *names):
            raise OptionError(f"{option} is not for a run of chordless {command.pick}: leave it out")
        answer = longest.answer if command.pick == "longest" else sample.answer
        # A sample without a file goes to standard output, as at first.
        if command.pick == "sample" and command.output is None:
            changed = replace(changed, output=shared.STANDARD_OUTPUT)
        return answer(changed, options)
    if command.output is not None and options.json:
        lists = f"the run in {options.directory} lists {command.thing}s"
        raise OptionError(f"--json is for counts, but {lists}: leave --json out")
    limit = options.limit if command.pick == "all" else command.limit
    command = replace(changed, limit=limit, cluster=options.cluster, gpus=options.gpus)
    end = None if options.events is not None else _end_in_read_only(directory)
    finished, exit_code = run_engine(command, options) if end is None else (end, 0)
    paths.print_end(command, finished, options)
    return exit_code


def _changed(command: RunCommand, options: argparse.Namespace) -> RunCommand:
    given = ("arch", "threads", "memory", "checkpoint_every")
    changed = {name: getattr(options, name) for name in given if getattr(options, name) is not None}
    return replace(command, program_start=options.program_start, timeout=options.timeout, **changed)


def _end_in_read_only(directory: RunDirectory) -> Finished | None:
    """Return the recorded result of a complete run in a read-only folder, where no engine can run; else None."""
    if os.access(directory.path / "run.json", os.W_OK):
        return None
    ends = [event for _, event in recorded(directory.events) if isinstance(event, Finished)]
    return replace(ends[-1], checkpoint=str(directory.path)) if ends and ends[-1].complete else None
