"""A run of the engine whose search is on the workers of a cluster."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from chordless.protocol.orders import RunCommand

if TYPE_CHECKING:
    from kernels_ti.cluster.local import LocalWorkers


def started_cluster(command: RunCommand) -> AbstractContextManager[LocalWorkers | str | None]:
    """Start the workers of a command's local cluster; see `kernels_ti.cluster.connect.started`."""
    if command.cluster is None:
        return nullcontext()
    from kernels_ti.cluster.connect import started

    return started(command.cluster, command.gpus, arch=command.arch, threads=command.threads, tell=tell)


def tell(line: str) -> None:
    """Let the client show a line to the user, see `chordless.protocol.events.Log`."""
    sys.stderr.write(f"chordless: {line}\n")
    sys.stderr.flush()
