"""Values that users write on a command line, in a form or in a manifest: sizes, times, lengths, parts."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

SHORTEST_CYCLE = 3
SHORTEST_PATH = 2
SHORTEST_HOLE = 4

ALL_LIVING = "none"
"""Value of `types` for a food web without types: every vertex is living."""

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": STANDARD_OUTPUT, "/dev/stderr": STANDARD_ERROR}

_SIZES = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LEAST_MEMORY = 1 << 20
_THREADS_OF_ANY_MACHINE, _THREADS_OF_A_CORE = 64, 4
_NUMBER = r"\+?(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+)"


def duration(text: str) -> float:
    """Return the seconds that `text` means: ``10``, ``1.5``, ``90s``, ``5m``, ``2h``."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], units[text[-1]]) if text and text[-1] in units else (text, 1.0)
    # Python's own `float` takes 1_0, nan and the digits of every script as well.
    seconds = float(number) * unit if re.fullmatch(_NUMBER, number) else math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: seconds above 0, or 90s, 5m, 2h")
    return seconds


def size(text: str) -> int:
    """Return the bytes that `text` means: ``256M``, ``1.5GiB``, ``1000000``; K, M, G, T are powers of 1024."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: bytes, or 256M, 1.5GiB")
    bytes_meant = float(found[1]) * _SIZES[found[2]]
    if not bytes_meant < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is more memory than there can be")
    amount = int(bytes_meant)
    if amount < _LEAST_MEMORY:
        raise argparse.ArgumentTypeError(f"{text} is too little: 1M is the least")
    return amount


def part(text: str) -> tuple[int, int]:
    """Return the pair (I, N) that ``I/N`` means, with 1 <= I <= N."""
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a part: I/N, such as 1/4")
    number, parts = int(found[1]), int(found[2])
    if not 1 <= number <= parts:
        raise argparse.ArgumentTypeError(f"there is no part {number} of {parts}: parts are numbered from 1")
    return number, parts


def names_a_folder(text: str) -> bool:
    """Whether `text` is a folder or is written as one, with a slash: opened as a path, it would lose the slash."""
    return os.path.isdir(text) or os.path.basename(text) in ("", ".", "..")


def descriptor_named(path: str) -> int | None:
    """Return the descriptor for which a name such as ``/dev/fd/3`` or ``/dev/stdout`` stands; None for other names."""
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]{1,6})", path)
    return _STREAMS.get(path) if found is None else int(found[1])


def output_name(text: str) -> str:
    """Return the name of an output; ``-`` is standard output, under whichever of its names.

    The engine writes it, whose own descriptors of these numbers lead elsewhere.
    """
    descriptor = descriptor_named(text)
    if descriptor == STANDARD_OUTPUT:
        return "-"
    if descriptor == STANDARD_ERROR:
        raise argparse.ArgumentTypeError(
            f"{text}: standard error has the messages: name a file, or - for standard output"
        )
    if descriptor is not None and not os.path.exists(text):
        raise argparse.ArgumentTypeError(f"{text}: there is no such open file")
    return text


def output_file(text: str) -> str:
    """Return the name of a file to write; ``-`` is standard output, whatever folders there are."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the output is empty")
    if text != "-" and names_a_folder(text):
        raise argparse.ArgumentTypeError(f"{text}: this is a folder; the output is a file")
    return output_name(text)


def file_beside(text: str) -> str:
    """Return the name of a file to write beside the result, which goes to standard output."""
    name = output_file(text)
    if name == "-":
        raise argparse.ArgumentTypeError("standard output has the result: name a file")
    return name


def name_of_input(text: str) -> str:
    """Return the name of a file or folder to read; an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def _at_least(least: int, fault: str) -> Callable[[str], int]:
    """Return a function that reads whole numbers from `least` on; `fault` has the place of a smaller one."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[-+]?[0-9]{1,4000}", text):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        if int(text) < least:
            raise argparse.ArgumentTypeError(fault.format(text))
        return int(text)

    return read


any_cycle_length = _at_least(1, "a cycle has at least 1 vertex, not {}")
positive = _at_least(1, "{} is not above 0")
seed = _at_least(0, "{!r} is not a whole number from 0 on")


def thread_count(text: str) -> int:
    """Return a number of threads; many more than the cores of this machine are refused."""
    from kernels_ti.device.machine import cores

    number, most = positive(text), max(_THREADS_OF_ANY_MACHINE, _THREADS_OF_A_CORE * cores())
    if number > most:
        raise argparse.ArgumentTypeError(
            f"{number:,} threads are too many: this machine has {cores()} cores, so use {most} at most"
        )
    return number


def whole_numbers(text: str) -> tuple[int, ...]:
    """Whole numbers, such as those of GPUs, separated by commas: ``0,2``."""
    names = text.split(",")
    if not all(name.strip().isdecimal() for name in names):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 0,2")
    return tuple(map(int, names))


def usual_shortest(*, of_paths: bool, shortest: bool) -> int:
    """Return the fewest vertices of what is looked for without a bound; `shortest` or lightest cycles are holes."""
    if of_paths:
        return SHORTEST_PATH
    return SHORTEST_HOLE if shortest else SHORTEST_CYCLE


def takes_all_lengths(min_length: int, max_length: int | None, parity: str | None, *, of_paths: bool) -> bool:
    """Return whether these bounds allow every length of a cycle, or path: only then can all be counted together."""
    return min_length <= (SHORTEST_PATH if of_paths else SHORTEST_CYCLE) and max_length is None and parity is None


def first_missing(lengths: Sequence[int]) -> list[int]:
    """Return the first length that is missing in each gap between ascending lengths, where a curve breaks.

    Some graphs have cycles of every second length only: the smallest distance between two lengths is no gap.
    """
    usual = min((later - length for length, later in pairwise(lengths)), default=1)
    return [length + usual for length, later in pairwise(lengths) if later - length > usual]
