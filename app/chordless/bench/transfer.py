"""Search, and transfer all cycles to the host or count them, in a separate process: the paper's T_par-total.

Only this child process loads the engine; see `chordless.bench.measure.transfer_once`.
"""

from __future__ import annotations

import gc
import json
import time
from collections import deque

from chordless.graphs.load import load_graph
from kernels_ti import ChordlessError, Device, EngineError, Graph, Options, Run, Snapshot
from kernels_ti.cycles import name_array
from kernels_ti.estimate.device_choice import device_for

_WARM_UP_SECONDS = 10.0


def main(file: str, arch: str, threads: str, wanted: str) -> None:
    """Print one line of JSON: the seconds and the counts by length, or the error.

    Parameters
    ----------
    file : str
        The graph file.
    arch : str
    threads : str
        The number of threads as text; "" for all.
    wanted : {"count", "rows", "lists"}
        Only count the cycles, or bring them to the host as bit rows, or as lists of names.
    """
    try:
        graph = load_graph(file).graph
        device = device_for(graph, arch, threads=int(threads) if threads else None)
        # Load or compile every kernel first. Even a long search uses all of them before it is cut off.
        _search(graph, device, wanted, _WARM_UP_SECONDS)
        gc.collect()
        seconds, listed, snapshot = _search(graph, device, wanted, None)
        if listed != snapshot.cycles:
            raise EngineError(f"{listed:,} cycles came to the host, {snapshot.cycles:,} were counted")
        print(json.dumps({"seconds": seconds, "by_length": snapshot.cycles_by_length}))
    except ChordlessError as error:
        print(json.dumps({"error": str(error)}))


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
