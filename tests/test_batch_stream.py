"""A batch reads and writes as a stream: lines are there long before the last graph is read."""

from __future__ import annotations

from batches import Listener
from chordless.batch.counting import Counting
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


def test_progress_has_the_cycles_of_all_graphs_that_are_done(tmp_path, monkeypatch):
    # The first graph is searched on its own; the others are counted together before, and their lines wait for it.
    monkeypatch.setattr("chordless.batch.runner._SECONDS_BETWEEN_REPORTS", 0.0)
    monkeypatch.setattr("kernels_ti.many.search.MOST_STEPS", {"cpu": 100})
    seen = []

    class WithReport(Counting):
        def alone(self, entry):
            self._attend(cycles=1000)
            seen.append(listener.events[-1])
            return super().alone(entry)

    monkeypatch.setattr("chordless.batch.runner.Counting", WithReport)
    listener, output = Listener(), BatchFile(str(tmp_path / "out.jsonl"))
    jobs = tuple(BatchJob(graph, arch="cpu") for graph in ("grid:5x6", "cycle:4", "cycle:5", "complete:4"))
    Batch(BatchCommand(jobs, str(tmp_path / "out.jsonl")), listener, output).go()
    output.close()
    assert [(event.done, event.cycles) for event in seen] == [(3, 1 + 1 + 4 + 1000)]


def test_the_total_is_known_later_where_the_inputs_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr("chordless.batch.runner._SECONDS_OF_COUNTING", -1.0)
    monkeypatch.setattr("chordless.batch.runner._SECONDS_BETWEEN_REPORTS", 0.0)
    events = done_here(tmp_path / "out.jsonl", range(4, 20)).events
    totals = [event.total for event in events if isinstance(event, (BatchStarted, BatchProgress))]
    assert (totals[0], totals[-1]) == (None, 16)
