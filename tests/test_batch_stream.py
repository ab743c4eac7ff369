"""A batch reads and writes as a stream: lines are there long before the last graph is read."""

from __future__ import annotations

from batches import Listener
from chordless.batch.inputs import read_job
from chordless.batch.output import BatchFile
from chordless.batch.runner import Batch
from chordless.protocol.events import BatchProgress, BatchStarted
from chordless.protocol.orders import BatchCommand, BatchJob


def done_here(path, numbers):
    listener, output = Listener(), BatchFile(str(path))
    Batch(BatchCommand(tuple(BatchJob(f"cycle:{n}") for n in numbers), str(path)), listener, output).go()
    output.close()
    return listener


def test_lines_are_written_while_later_graphs_are_not_read_yet(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.batch.runner._SECONDS_OF_READING", 0.0)
    path, sizes = tmp_path / "out.jsonl", []

    def read_and_look(*arguments):
        sizes.append(path.stat().st_size)
        return read_job(*arguments)

    monkeypatch.setattr("chordless.batch.runner.read_job", read_and_look)
    assert done_here(path, range(4, 8)).end.done == 4
    assert len(set(sizes)) == 4, "each graph has its line before the next is read"


def test_the_total_is_known_later_where_the_inputs_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.batch.runner._SECONDS_OF_COUNTING", -1.0)
    monkeypatch.setattr("chordless.batch.runner._SECONDS_BETWEEN_REPORTS", 0.0)
    events = done_here(tmp_path / "out.jsonl", range(4, 20)).events
    totals = [event.total for event in events if isinstance(event, (BatchStarted, BatchProgress))]
    assert (totals[0], totals[-1]) == (None, 16)
