"""What tests of batches share: graphs, a batch run through its client, the lines of its file."""

from __future__ import annotations

import json

import networkx as nx
from chordless.batch.client import BatchClient
from chordless.batch.jobs import jobs_of
from chordless.engine.channel import Channel
from chordless.protocol.events import BatchFinished, Event
from chordless.protocol.orders import BatchCommand, BatchJob
from oracles import by_length, networkx_cycles

from kernels_ti import Graph

ATLAS = nx.graph_atlas_g()[1:]


def graph6(path, graphs):
    path.write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in graphs))
    return path


def lines_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def batch_in_process(graphs, output, template=BatchJob(""), **more):  # noqa: B008
    """Run a batch through the client; return its events."""
    with BatchClient(BatchCommand(tuple(jobs_of(map(str, graphs), template)), str(output), **more)) as batch:
        events = list(batch.events())
        return events, batch.engines


def expected(graph):
    return {str(length): count for length, count in by_length(networkx_cycles(Graph.from_networkx(graph))).items()}


class Listener(Channel):
    """Keeps the events; asks to stop after some."""

    def __init__(self, stop_after: float = float("inf")) -> None:
        self.stop_asked = False
        self.events: list[Event] = []
        self._stop_after = stop_after

    def obey(self, *, wait: bool = False) -> None:
        self.stop_asked = len(self.events) >= self._stop_after

    def send(self, event: Event) -> None:
        self.events.append(event)

    @property
    def end(self) -> BatchFinished:
        (end,) = (event for event in self.events if isinstance(event, BatchFinished))
        return end
