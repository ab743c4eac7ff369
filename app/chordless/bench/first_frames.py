"""How long the driver of a cluster takes to make the first frames of a graph, in a process of its own."""

from __future__ import annotations

import time

from chordless.bench.sleeping import SleepingWorkers
from chordless.graphs.load import load_graph
from kernels_ti.cluster.driver import ClusterRun


def main(graph: str) -> None:
    """Make them for a graph that is named as on the command line; print the seconds, without those of reading it."""
    loaded = load_graph(graph).graph
    began = time.perf_counter()
    ClusterRun(loaded, SleepingWorkers(0)).close()
    print(time.perf_counter() - began)
