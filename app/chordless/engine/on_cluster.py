"""A run of the engine whose search is on the workers of a cluster."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from chordless.protocol.orders import RunCommand

if TYPE_CHECKING:
    from kernels_ti.blocks.search_space import SearchSpace
    from kernels_ti.cluster.driver import ClusterRun
    from kernels_ti.cluster.local import LocalWorkers
    from kernels_ti.state import RunState


class ClusterPlace:
    """Where a search on a cluster runs, in the place of a `kernels_ti.Device`."""

    arch = "cluster"

    def __init__(self, run: ClusterRun) -> None:
        self._run = run

    @property
    def name(self) -> str:
        """The workers and their devices, as text; workers may come and go."""
        return self._run.device_name


def started_cluster(command: RunCommand) -> AbstractContextManager[LocalWorkers | str | None]:
    """Start the workers of a command's cluster if that is a local one; see `kernels_ti.cluster.connect.started`.

    Raise ChordlessError if they cannot be started.
    """
    if command.cluster is None:
        return nullcontext()
    from kernels_ti.cluster.connect import started

    return started(command.cluster, command.gpus, arch=command.arch, threads=command.threads, tell=tell)


def run_on_cluster(
    command: RunCommand, cluster: LocalWorkers | str, space: SearchSpace, state: RunState | None
) -> AbstractContextManager[ClusterRun]:
    """Connect to a cluster and make the run of a command; wait for its first workers.

    Raise ChordlessError if the cluster cannot be reached or used.
    """
    from kernels_ti.cluster.connect import held_run

    return held_run(cluster, space, state=state, arch=command.arch, threads=command.threads, tell=tell)


def tell(line: str) -> None:
    """Let the client show a line to the user, see `chordless.protocol.events.Log`."""
    sys.stderr.write(f"chordless: {line}\n")
    sys.stderr.flush()
