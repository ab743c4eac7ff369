"""Two runs side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.events import Finished
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import created
from chordless.runs.state import RunState
from chordless.tui.screens.compare import FRAMES, CompareScreen, compare_facts, load_frames, load_run
from textual.app import App

from kernels_ti import EngineError
from kernels_ti.errors import CheckpointError
from tui.pilots import LARGE, SMALL, text_of, until
from tui.stage import Stage, notices, play

RECORDING = (Path(__file__).parent / "grid-9x10.jsonl").read_bytes()
COMPLETE = RunState().after(
    [(1.0, Finished("complete", "a", 9, 12, 4, 5, {4: 5}, 7, 0, {3: 7}, 0, 0, "cpu", "x", 1, 2, 3, share=1.0))]
)


def run_directory(path, recording):
    with created(path, RunCommand("cycle:5", 0.0), load_graph("cycle:5")) as directory:
        directory.checkpoint.touch()
        directory.events.write_bytes(recording)
    return path


class Comparing(Stage):
    shows = CompareScreen


@pytest.fixture
def directories(tmp_path):
    """The whole run, and its first session alone, of which the last line is torn."""
    lines = RECORDING.splitlines(keepends=True)
    first = [line for line in lines[: len(lines) // 2] if b"interrupted" in line or b"started" in line][:2]
    return (
        run_directory(tmp_path / "whole", RECORDING),
        run_directory(tmp_path / "begun", b"".join(first) + b'{"event": "pro'),
    )


@pytest.mark.parametrize(("size", "ascii_only"), [(SMALL, False), ((120, 36), False), (LARGE, True)])
def test_two_runs(size, ascii_only, directories):
    app: App[None] = Comparing(ascii_only=ascii_only)

    async def steps(pilot):
        await until(pilot, lambda: "Nothing to compare yet" in text_of(app))
        app.screen.set_runs(directories)
        await until(pilot, lambda: "cycles B" in text_of(app) and "whole" in text_of(app))
        text = text_of(app)
        assert not ascii_only or text.isascii()
        rows = [line.split() for line in text.splitlines()]
        assert rows[1] == ["run", "A", "whole", "B", "begun"]
        mark = "*" if ascii_only else "≠"
        assert [row[0] for row in rows[1:8] if row[1] == mark] == ["state", "cycles"]
        for words in ("668,179,142", "32,173,677", "stopped at 4.7%", "paths A", "cycles A", "both", "log scale"):
            assert words in text
        await pilot.press("l")
        await until(pilot, lambda: "linear scale" in text_of(app))

    play(app, size, steps)


def test_a_narrow_terminal_cuts_no_fact(directories):
    app = Comparing()

    async def steps(pilot):
        await until(pilot, lambda: "Nothing to compare yet" in text_of(app))
        app.screen.set_runs(directories)
        await until(pilot, lambda: "cycles B" in text_of(app) and "whole" in text_of(app))
        facts = text_of(app).splitlines()[1:8]
        assert "…" not in "".join(facts)
        assert facts[3].split() == ["on", "cpu:", "AMD", "EPYC", "cpu:", "AMD", "EPYC"]
        await pilot.resize_terminal(40, 20)
        await until(pilot, lambda: ["on", "cpu", "cpu"] in [line.split() for line in text_of(app).splitlines()])

    play(app, (60, 20), steps)


def test_a_run_that_cannot_be_read_is_reported(tmp_path, directories):
    damaged = run_directory(tmp_path / "damaged", RECORDING[:500] + b"\n")
    app = Comparing()

    async def steps(pilot):
        await until(pilot, lambda: "Nothing to compare yet" in text_of(app))
        app.screen.set_runs((directories[0], damaged))
        await until(pilot, lambda: notices(app))
        assert "Nothing to compare yet" in text_of(app)

    play(app, SMALL, steps)
    assert "not a line of JSON" in notices(app)[0]
    assert str(damaged) in notices(app)[0]
    with pytest.raises(EngineError, match=r"events\.jsonl: line 1: "):
        load_run(damaged)
    with pytest.raises(CheckpointError, match="there is no run"):
        load_run(tmp_path)


def test_a_run_without_an_engine_is_lost(tmp_path):
    lines = RECORDING.splitlines(keepends=True)
    state = load_run(run_directory(tmp_path / "run", b"".join(lines[:3])))
    assert state.phase == "lost"
    assert load_run(run_directory(tmp_path / "empty", b"")).phase == "lost"


def differing(other, first=COMPLETE):
    return [fact.label for fact in compare_facts(first, other, ascii_only=True) if fact.differs]


def test_what_should_be_alike_and_is_not_is_marked():
    assert differing(COMPLETE) == []
    assert differing(replace(COMPLETE, arch="cuda", seconds=9.0, paths=8)) == []
    assert differing(replace(COMPLETE, cycles_by_length={4: 4, 5: 1})) == ["cycles"]
    assert differing(replace(COMPLETE, m=13)) == ["graph"]
    assert differing(replace(COMPLETE, options={"max_length": 12})) == ["search"]
    assert differing(replace(COMPLETE, reason="limit")) == ["state"]
    facts = compare_facts(COMPLETE, replace(COMPLETE, options={"max_length": 9, "part": (1, 4)}), ascii_only=True)
    assert next(fact.second for fact in facts if fact.label == "search")[0] == "lengths 3 to 9, part 1 of 4"


def test_a_sample_is_told_from_a_count():
    sample = replace(
        COMPLETE, cycles=3, options={"pick": "sample", "method": "boundary"}, boundary={"drawn_from": 65772}
    )
    assert differing(replace(sample, cycles_by_length={4: 3})) == ["search"]
    facts = {fact.label: fact for fact in compare_facts(COMPLETE, sample, ascii_only=True)}
    assert facts["cycles"].second == ("3 drawn at random from 65,772", "3 drawn")
    assert facts["search"].second[0] == "a sample, all lengths, along a boundary"


def test_the_ends_of_paths_are_told_without_their_lengths_where_there_is_no_room():
    paths = replace(COMPLETE, options={"between": ("1", "20")})
    facts = {fact.label: fact for fact in compare_facts(paths, paths, ascii_only=True)}
    assert facts["search"].first[0] == "paths from 1 to 20, all lengths"
    assert facts["search"].first[-1] == "paths from 1 to 20"


def test_both_runs_are_played_side_by_side(tmp_path):
    recordings = Path(__file__).parent / "recorded"
    ours, paper = (
        run_directory(tmp_path / name, (recordings / f"{name}.jsonl").read_bytes())
        for name in ("grid-7x10", "grid-7x10-paper")
    )
    app = Comparing()

    async def steps(pilot):
        app.screen.set_runs((ours, paper))
        await until(pilot, lambda: "140,095,471" in text_of(app))
        assert text_of(app).count("No path waits any more.") == 2
        assert "▀" in text_of(app), "how the frontiers moved is to be seen at the end"
        await pilot.press("space")
        await until(pilot, lambda: "▶ running" in text_of(app) and "paths wait now" in text_of(app))
        assert "≠" not in text_of(app)
        await pilot.press("space")
        stopped = text_of(app)
        await pilot.pause(0.2)
        assert text_of(app) == stopped

    play(app, LARGE, steps)
    frames = load_frames(paper)
    assert len(frames) == FRAMES
    assert frames[-1] == load_run(paper)
    positions = [max(state.waiting_by_length) for state in frames if state.waiting_by_length]
    assert positions == sorted(positions), "the wave travels to the right"
    assert positions[-1] - positions[0] > 15
    shares = [(state.share, state.cycles / 8_136_453) for state in frames]
    assert all(share == found for share, found in shares), "all cycles are known by now"


def test_a_count_along_a_boundary_has_no_paths_and_no_rate():
    along = replace(COMPLETE, states=4321, options={**COMPLETE.options, "method": "boundary"})
    facts = {fact.label: fact for fact in compare_facts(COMPLETE, along, ascii_only=True)}
    assert facts["paths T"].second[0] == "none: 4,321 states at the most"
    assert facts["cycles"].second[0] == f"{COMPLETE.cycles:,}"
    assert facts["search"].second[0].endswith("along a boundary")
    assert not facts["cycles"].differs
