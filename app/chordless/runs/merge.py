"""Merging the results of the parts of one search: check that they belong together, and add them up."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chordless.files import read_file
from chordless.protocol.codec import wrong_field
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.protocol.recording import recorded
from chordless.protocol.results import result_of_object
from chordless.runs.checkpoint import require_own
from chordless.runs.command_words import option_of
from chordless.runs.directory import RunDirectory, resume_line
from kernels_ti import OptionError
from kernels_ti.proof import proof_text

# Two parts fit together if they agree in all of these: the deal depends on them.
_SAME_ASKED = (
    *("all_pairs", "between"),
    *("expansion", "min_length", "max_length", "parity", "through", "through_edges", "avoid", "avoid_edges"),
    *("per_vertex", "per_edge", "proof", "symmetry"),
)
_SUMS = ("paths", "listed", "setup_seconds", "enumerate_seconds", "write_seconds", "total_seconds")
_MISSING_NAMED = 100

_NO_RESULT = "no result: a part is a file of `chordless count --json`, or a run directory"
_RESULT_OF_PATHS = "a result of `chordless paths`, whose parts are run directories: count each with --checkpoint DIR"
_OLD_RESULT = "a result of version 0.4.0, which does not say of which graph it is; count this part again"


@dataclass(frozen=True)
class PartResult:
    """The result of one part of a search."""

    source: str  # The file or the run directory that it comes from
    command: RunCommand  # The command of the part, as far as the source tells
    finished: Finished  # The result


def read_result(path: str | Path) -> PartResult:
    """Read the result of a part from a file with the output of ``count --json``, or from a run directory.

    Raises OptionError for neither or a run that has not ended, CheckpointError for a folder without a run.
    """
    path = Path(path)
    if os.path.isdir(path):
        return _result_of_directory(path)
    try:
        values = json.loads(read_file(path, pipes=True))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise OptionError(f"{path}: {_NO_RESULT}") from None
    if isinstance(values, dict) and "graph_hash" not in values and "by_length" in values:
        if "start" in values:
            raise OptionError(f"{path}: {_RESULT_OF_PATHS}")
        if "part" in values:  # which neither `estimate --json` has nor `count --up-to-symmetry --json`
            raise OptionError(f"{path}: {_OLD_RESULT}")
    try:
        command, finished = result_of_object(values)
        why = wrong_field(command) or wrong_field(finished)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else "its values are of other kinds"
    if why:
        raise OptionError(f"{path}: not a whole result of `chordless count --json`: {why}")
    return PartResult(str(path), command, finished)


def _result_of_directory(path: Path) -> PartResult:
    directory = RunDirectory(path)
    command = directory.command()
    ends = [event for _, event in recorded(directory.events) if isinstance(event, Finished)]
    if not ends:
        raise OptionError(f"{path}: this part has not ended yet; if it is not at work, go on with {resume_line(path)}")
    require_own(directory)
    began, end = directory.began_with(), ends[-1]
    known = {name: getattr(end, name) or began[name] for name in ("graph_hash", "program")}
    return PartResult(str(path), command, replace(end, **known))


def check_parts(results: Sequence[PartResult]) -> None:
    """Raise OptionError unless the results, in any order, are all parts of one search, each of them once and complete.

    The message names what does not fit, is missing or comes twice.
    """
    first = results[0]
    for result in results:
        if result.command.part is None:
            raise OptionError(f"{result.source} is not a part of a search: it was made without --part I/N")
        _check_same(first, result)
        if not result.finished.complete:
            part = "part {} of {}".format(*result.command.part)
            raise OptionError(f"{result.source} is not complete: {part} was ended early, so its counts are too low")
        if wrong := _wrong_count(result):
            raise OptionError(f"{result.source} was changed or damaged: {wrong}")
    _check_all_are_there(results)


def _wrong_count(result: PartResult) -> str | None:
    """Return a fault that no search makes: a total that is not the sum of its counts, or a proof that is none."""
    finished = result.finished
    by_length = finished.cycles_by_length
    if finished.boundary is not None or result.command.total_only:
        return "a part is searched and has counts by length, while this was counted along a boundary"
    if min(by_length.values(), default=0) < 0:
        return "a count by length is negative"
    if finished.cycles != sum(by_length.values()):
        return f"the total is {finished.cycles:,}, but the counts by length add up to {sum(by_length.values()):,}"
    directed = finished.directed_by_length
    if directed is not None and by_length != {length: count // (2 * length) for length, count in directed.items()}:
        return "its counts are not those of its directed cycles"
    for entries in (finished.participation or {}).values():
        for entry in entries:
            if entry["cycles"] != sum(entry["by_length"].values()):
                return f"the cycles through {entry['name']} are {entry['cycles']:,}, but not by length"
    if result.command.proof and not re.fullmatch("[0-9a-f]{64}", finished.proof or ""):
        return "its proof is not a number of 64 hexadecimal digits"
    return None


def _check_same(first: PartResult, other: PartResult) -> None:
    def differ(what: str, here: Any, there: Any) -> OptionError:
        return OptionError(
            f"{other.source} and {first.source} are not parts of one search: {what} is {here} in the one and "
            f"{there} in the other"
        )

    if other.finished.graph_hash != first.finished.graph_hash:
        raise OptionError(
            f"{other.source} and {first.source} are parts of different graphs: {other.finished.graph} with "
            f"n={other.finished.n:,}, m={other.finished.m:,}, and {first.finished.graph} with "
            f"n={first.finished.n:,}, m={first.finished.m:,}; vertex names count as well"
        )
    # Without the library below, on which parts do not depend.
    versions = [(each.finished.program or "").partition(" (")[0] or None for each in (other, first)]
    if versions[0] != versions[1]:
        raise differ("the version of chordless", *versions)
    for field in _SAME_ASKED:
        here, there = getattr(other.command, field), getattr(first.command, field)
        if here != there:
            option = {"parity": "--odd or --even", "between": "S T"}.get(field) or option_of(field)
            raise differ(option, _said(here), _said(there))
    if first.command.expansion == "paper" and other.finished.arch != first.finished.arch:
        # The expansion "paper" has a layout that depends on the arch, and the parts depend on the layout.
        raise differ("--arch", other.finished.arch, first.finished.arch)
    assert first.command.part is not None
    assert other.command.part is not None
    if other.command.part[1] != first.command.part[1]:
        raise differ("the number of parts", other.command.part[1], first.command.part[1])
    if _names(other) != _names(first):
        raise OptionError(f"{other.source} and {first.source} count the cycles through different vertices or edges")


def _names(result: PartResult) -> dict[str, list[Any]]:
    counted = result.finished.participation or {}
    return {kind: [entry["name"] for entry in entries] for kind, entries in counted.items()}


def _check_all_are_there(results: Sequence[PartResult]) -> None:
    sources: dict[int, str] = {}
    parts = 0
    for result in results:
        assert result.command.part is not None
        number, parts = result.command.part
        if number in sources:
            raise OptionError(f"part {number} of {parts} is given twice: {sources[number]} and {result.source}")
        sources[number] = result.source
        if not 1 <= number <= parts:
            raise OptionError(f"{result.source} says that it is part {number} of {parts}, which is none")
    if parts - len(sources) > _MISSING_NAMED:
        raise OptionError(f"{parts - len(sources):,} of {parts:,} parts are missing: all parts are needed")
    missing = [str(number) for number in range(1, parts + 1) if number not in sources]
    if missing:
        *others, last = missing
        what = f"parts {', '.join(others)} and {last} of {parts} are" if others else f"part {last} of {parts} is"
        raise OptionError(f"{what} missing: all parts are needed")


def merged(results: Sequence[PartResult]) -> tuple[RunCommand, Finished]:
    """Add up the parts of one search, which `check_parts` checks; return the command of the whole and its result.

    Counts and seconds are sums, memory is the most that any part took.
    """
    check_parts(results)
    ends = [result.finished for result in results]
    first = ends[0]
    by_length = _sum(end.cycles_by_length for end in ends)
    if results[0].command.symmetry:
        by_length = _undirected(_sum(end.directed_by_length or {} for end in ends))
    together: dict[str, Any] = {name: sum(getattr(end, name) for end in ends) for name in _SUMS}
    together |= {name: max(getattr(end, name) for end in ends) for name in ("device_bytes", "peak_memory_bytes")}
    together |= {name: ", ".join(dict.fromkeys(getattr(end, name) for end in ends)) for name in ("arch", "device")}
    finished = replace(
        first,
        cycles=sum(by_length.values()),
        cycles_by_length=by_length,
        directed_by_length=None,
        frontier=0,
        frontier_by_length=_sum(end.frontier_by_length for end in ends),
        **together,
        share=1.0,
        checkpoint=None,
        participation=_participation([end.participation for end in ends]),
        proof=proof_text(sum(int(end.proof, 16) for end in ends if end.proof)) if first.proof else None,
    )
    return replace(results[0].command, part=None, checkpoint=None, resume=False), finished


def _sum(counts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for by_length in counts:
        total.update(by_length)
    return dict(sorted(total.items()))


def _undirected(directed: Mapping[int, int]) -> dict[int, int]:
    """Return the numbers of cycles behind numbers of directed cycles with a first vertex."""
    for length, count in directed.items():
        if count % (2 * length):
            raise OptionError(
                f"these are not all parts of one search: together they have {count:,} directed cycles of {length} "
                f"vertices, which is no multiple of {2 * length}"
            )
    return {length: count // (2 * length) for length, count in directed.items()}


def _participation(objects: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    there = [found for found in objects if found is not None]
    if not there:
        return None
    # Equal graphs have their vertices and edges in the same order.
    return {
        kind: [
            {
                "name": entries[0]["name"],
                "cycles": sum(entry["cycles"] for entry in entries),
                "by_length": _sum(entry["by_length"] for entry in entries),
            }
            for entries in zip(*(found[kind] for found in there), strict=True)
        ]
        for kind in there[0]
    }


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value) or "not given"
    return "not given" if value is None or value is False else "given" if value is True else str(value)
