"""Search, and transfer all cycles to the host or count them, in a separate process: the paper's T_par-total.

Only this child process loads the engine; see `chordless.bench.searches.SearchProcess`.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import deque
from typing import Any, cast

import numpy as np

from chordless.graphs.load import load_graph
from kernels_ti import ChordlessError, Device, EngineError, Graph, OptionError, Options, Run, Snapshot, open_device
from kernels_ti.cycles import name_array
from kernels_ti.estimate.device_choice import device_for
from kernels_ti.search import DeviceSearch, Search

_WARM_UP_SECONDS = 10.0
_LINK_BYTES = 1 << 28
_LINK_RUNS = 5


def main(arch: str, threads: str) -> None:
    """Answer each line of standard input, a request, with one line of JSON, until there are no more.

    A request has ``graph``, a file, and ``wanted``: ``count`` only counts the cycles, ``kept`` keeps them in the memory
    of the device, ``rows`` brings them to the host as bit rows, ``lists`` as lists of names. An answer has the seconds
    and the counts by length, or the error. A request with ``wanted`` ``link`` asks for the bytes a second that the
    device sends to the host; its answer is null where that cannot be measured.

    Parameters
    ----------
    arch : str
    threads : str
        The number of threads as text; "" for all.
    """
    searched: set[tuple[str, str]] = set()
    for line in sys.stdin:
        request = json.loads(line)
        file, wanted = request["graph"], request["wanted"]
        try:
            answer: dict[str, Any]
            if wanted == "link":
                answer = {"bytes_per_second": link_speed(arch)}
            else:
                answer = _answer(file, arch, int(threads) if threads else None, wanted, warm=(file, wanted) in searched)
                searched.add((file, wanted))
        except ChordlessError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


def _answer(file: str, arch: str, threads: int | None, wanted: str, *, warm: bool) -> dict[str, Any]:
    graph = load_graph(file).graph
    device = device_for(graph, arch, threads=threads)
    if not warm:
        # Load or compile every kernel first. Even a long search uses all of them before it is cut off.
        _search(graph, device, wanted, _WARM_UP_SECONDS)
    gc.collect()
    seconds, listed, snapshot = _search(graph, device, wanted, None)
    if listed != snapshot.cycles:
        raise EngineError(f"{listed:,} cycles came to the host, {snapshot.cycles:,} were counted")
    return {"seconds": seconds, "by_length": snapshot.cycles_by_length}


class _KeptOnDevice(Run):
    """A run whose cycles stay where the search has written them, in the memory of the device."""

    def _take(self, search: Search) -> None:
        if self.device.arch == "reference":
            raise OptionError("the reference keeps its cycles on the host: choose another arch")
        deque(cast(DeviceSearch, search).take_found(), maxlen=0)


def link_speed(arch: str) -> float | None:
    """Return how many bytes a second the device sends to pinned memory of the host; None where that is not known."""
    if arch != "cuda":
        return None
    from kernels_ti.device import cuda

    device = open_device(arch)

    def best() -> float | None:
        try:
            slot = cuda.PinnedSlot(_LINK_BYTES)
        except MemoryError:
            return None
        buffer, seconds = device.empty(_LINK_BYTES // 8, np.uint64), []
        for _ in range(_LINK_RUNS):
            start = time.perf_counter()
            slot.fill(cuda.address(buffer), _LINK_BYTES)
            slot.wait()
            seconds.append(time.perf_counter() - start)
        slot.free()
        return _LINK_BYTES / min(seconds)

    return device.call(best)


def _search(graph: Graph, device: Device, wanted: str, give_up: float | None) -> tuple[float, int, Snapshot]:
    """Search slice by slice. Return the seconds, the number of cycles that were had, and the final counts."""
    kind = _KeptOnDevice if wanted == "kept" else Run
    run = kind(graph, device, Options(collect=wanted != "count", rows=wanted in ("rows", "kept")))
    names = name_array(graph.names)
    seconds, listed = 0.0, 0
    while not run.finished and (give_up is None or seconds < give_up):
        start = time.perf_counter()
        snapshot = run.advance()
        taken: Any = None
        if wanted == "rows":
            taken = run.take_rows()
        elif wanted == "lists":
            taken = run.take_cycles()
            deque(taken.named(names), maxlen=0)  # each list is made and dropped
        seconds += time.perf_counter() - start
        listed = snapshot.cycles if taken is None else listed + len(taken)
        del taken  # not on the clock: the system takes its time to get the memory back
    return seconds, listed, run.snapshot()
