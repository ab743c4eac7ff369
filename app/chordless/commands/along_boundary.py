"""What ``longest`` and ``sample`` share: the bounds, the order to the engine, and how it can end."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from chordless.commands import options as shared
from chordless.commands.session import InterruptedRunError, ended_by, run_engine, way_on_from
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from kernels_ti.errors import quantity, time_is_up

_EXIT_CODE_OF_SIGNALS = 128


def add_options(parser: argparse.ArgumentParser, method_help: str) -> None:
    """Add what bounds the cycles, the memory and the time, the method, and what is reported."""
    group = parser.add_argument_group("which cycles")
    shared.add_lengths(group)
    shared.add_restriction(group)
    group = parser.add_argument_group("how to run")
    shared.add(
        group, "--memory", "limit of the whole process such as 256M or 1.5GiB (default: a share of what is free)"
    )
    shared.add(group, "--timeout", "give up after this long: 10, 1.5, 90s, 5m, 2h")
    shared.add(
        group,
        "--arch",
        "where large blocks are computed: cpu, cuda, or auto (default): cpu, but Python where the cores are few",
        choices=("auto", "cpu", "cuda", "vulkan"),
        default="auto",
    )
    shared.add(group, "--method", f"{method_help}; with --checkpoint: boundary")
    shared.add_orders(group)
    shared.add_checkpoint(parser)
    shared.add_reporting(parser)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Settle the method where a checkpoint does; end with a usage error for bad options of one."""
    if options.checkpoint == "":
        parser.error("--checkpoint: the name of the folder is empty")
    shared.check_checkpoint_every(parser, options, options.checkpoint)
    if options.checkpoint is not None and options.method == "search":
        parser.error("--checkpoint is for the method boundary: leave one of them out")
    if options.checkpoint is not None:
        options.method = "boundary"


def command_of(options: argparse.Namespace, picked: Mapping[str, Any]) -> RunCommand:
    """Return the order to the engine, whose files are named from the root on; `picked` has its further fields."""
    files = shared.fields_of(options, "order", "write_order")
    named = {name: os.path.abspath(path) for name, path in files.items() if path is not None}
    return shared.order_of(RunCommand, options, **named, **picked)


def picked(command: RunCommand, options: argparse.Namespace) -> tuple[Finished, int]:
    """Let the engine pick cycles, or paths; return what came out, and the exit code that it means.

    Raise InterruptedRunError if a signal ended it, or TimeIsUpError if the time was up, before there was an answer.
    """
    finished, exit_code = run_engine(command, options)
    way_on = None if finished.checkpoint is None else way_on_from(finished.checkpoint, finished)
    if finished.reason == "interrupted" and finished.best is None:
        number = exit_code - _EXIT_CODE_OF_SIGNALS
        given = f"{quantity(finished.listed, command.thing)} written" if finished.listed else "nothing to report"
        how = f", {given}" if way_on is None else f"; to go on from the checkpoint: {way_on}"
        raise InterruptedRunError(number, f"{ended_by(number)}{how}")
    if finished.reason == "timeout" and finished.best is None:
        is_best, thing = command.pick == "longest", command.thing
        what = f"the best {thing} was found" if is_best else f"the {thing}s were drawn"
        kept = "" if way_on is None else f"; to go on from the last checkpoint: {way_on}"
        raise time_is_up(command.timeout, f"{what}{kept}")
    return finished, exit_code
