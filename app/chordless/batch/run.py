"""A batch in the engine, on this machine or on a cluster."""

from __future__ import annotations

from chordless.batch.output import BatchFile
from chordless.batch.runner import Batch
from chordless.engine.channel import Channel
from chordless.protocol.orders import BatchCommand


def run_batch(command: BatchCommand, channel: Channel) -> None:
    """Do all jobs of a batch, and send its events.

    A ChordlessError is raised if the output cannot be written, all jobs ask for the same arch and it is not available,
    or the cluster cannot be used.
    """
    output = BatchFile(command.output, keep_unreadable=not command.fail_fast)
    try:
        if command.cluster is None:
            Batch(command, channel, output).go()
        else:
            from chordless.batch.spread import go_on_cluster  # Dask is an extra

            go_on_cluster(command, channel, output)
    finally:
        output.close()
