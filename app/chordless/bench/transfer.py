"""Search, and transfer all cycles to the host or count them, in a separate process: the paper's T_par-total.

Only this child process loads the engine; see `chordless.bench.searches.SearchProcess`.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import deque
from typing import Any

from chordless.graphs.load import load_graph
from kernels_ti import ChordlessError, Device, EngineError, Graph, Options, Run, Snapshot
from kernels_ti.cycles import name_array
from kernels_ti.estimate.device_choice import device_for

_WARM_UP_SECONDS = 10.0


def main(arch: str, threads: str) -> None:
    """Answer each line of standard input, a request, with one line of JSON, until there are no more.

    A request has ``graph``, a file, and ``wanted``: ``count`` only counts the cycles, ``rows`` brings them to the host
    as bit rows, ``lists`` as lists of names. An answer has the seconds and the counts by length, or the error.

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


def _search(graph: Graph, device: Device, wanted: str, give_up: float | None) -> tuple[float, int, Snapshot]:
    """Search slice by slice. Return the seconds, the number of cycles that were had, and the final counts."""
    run = Run(graph, device, Options(collect=wanted != "count", rows=wanted == "rows"))
    names = name_array(graph.names)
    seconds, listed = 0.0, 0
    while not run.finished and (give_up is None or seconds < give_up):
        start = time.perf_counter()
        snapshot = run.advance()
        if wanted == "rows":
            listed += len(run.take_rows())
        elif wanted == "lists":
            found = run.take_cycles()
            deque(found.named(names), maxlen=0)  # each list is made and dropped
            listed += len(found)
        else:
            listed = snapshot.cycles
        seconds += time.perf_counter() - start
    return seconds, listed, run.snapshot()
