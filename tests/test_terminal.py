"""What people see: the table, numbers, the progress."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
from types import SimpleNamespace

import pytest
from chordless.commands.terminal import ProgressDisplay, histogram, result_table
from chordless.protocol.events import Finished, Progress
from chordless.protocol.orders import RunCommand
from chordless.words.numbers import (
    bytes_text,
    lengths_text,
    round_number,
    seconds_text,
    share_text,
    short_number,
    time_left_text,
)
from program import ENVIRONMENT, LONG, REFERENCE, chordless


def finished(by_length, **more):
    values = {
        "reason": "complete", "graph": "g", "n": 9, "m": 9, "max_degree": 9, "cycles": sum(by_length.values()),
        "cycles_by_length": by_length, "paths": 0, "frontier": 0, "frontier_by_length": {}, "listed": 0,
        "device_bytes": 0, "arch": "cpu", "device": "d", "setup_seconds": 1.0, "enumerate_seconds": 1.0,
        "total_seconds": 1.0, **more,
    }  # fmt: skip
    return Finished(**values)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("lengths", [1, 16, 17, 60, 61, 500])
def test_the_table_fits_80_columns_and_loses_nothing(tmp_path, encoding, lengths):
    by_length = {3 + i: 10**i % 99_999_999_999 + 1 for i in range(lengths)}
    with (tmp_path / "table").open("w", encoding=encoding) as stream:
        lines = list(result_table(RunCommand("g", 0.0), finished(by_length), stream))
        print(*lines, file=stream, sep="\n")
    assert max(map(len, lines)) <= 80
    assert ("  a row adds up several lengths; --json has each length" in lines) == (lengths > 60)
    table = [line for line in lines[lines.index("") + 2 : -2] if "--json" not in line]
    numbers = [word for line in table for word in line.split() if word.replace(",", "").isdigit() or "-" in word]
    if lengths <= 60:
        assert sorted(int(number.replace(",", "")) for number in numbers) == sorted([*by_length, *by_length.values()])
    else:
        counts = [int(word.replace(",", "")) for word in numbers if "-" not in word]
        assert sum(counts) == sum(by_length.values())


@pytest.mark.parametrize(
    ("bounds", "labels"),
    [
        ({}, ["triangles", "chordless cycles", "total"]),
        ({"max_length": 3}, ["triangles", "total"]),
        ({"min_length": 4}, ["total"]),
    ],
)
def test_the_table_has_no_line_for_what_was_not_asked_for(bounds, labels):
    lines = list(result_table(RunCommand("g", 0.0, **bounds), finished({}), io.StringIO()))
    assert [line[2:20].rstrip() for line in lines[4 : 4 + len(labels)]] == labels
    assert lines[4 + len(labels)].startswith("  1.0 s search")


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((3, None), ""),
        ((3, 8), "cycles of 3 to 8 vertices"),
        ((5, None), "cycles of 5 or more vertices"),
        ((6, 6), "cycles of 6 vertices"),
    ],
)
def test_bounds_on_the_length_for_people(bounds, text):
    assert lengths_text(*bounds) == text


def test_numbers_for_people():
    assert [seconds_text(s) for s in (0.00049, 0.0344, 12.34, 245, 11520)] == [
        "0.5 ms", "34 ms", "12.3 s", "4 min 05 s", "3 h 12 min",
    ]  # fmt: skip
    assert [bytes_text(size) for size in (0, 1023, 1536, 150 << 30)] == ["0 bytes", "1023 bytes", "1.5 KiB", "150 GiB"]
    assert [short_number(value) for value in (0, 950, 12300, 999_999, 4.56e6, 9.99e17, 1.87e21, 10**400)] == [
        "0", "950", "12.3 k", "1 M", "4.56 M", "999 P", "1.9e21", "over 1e308",
    ]  # fmt: skip


def test_estimates_and_shares_for_people():
    assert [round_number(value) for value in (0, 63.2, 999, 1234, 7.15e7, 9.99e22, 10**400)] == [
        "0", "63", "999", "1.2e3", "7.2e7", "1.0e23", "over 1e308",
    ]  # fmt: skip
    assert [share_text(share) for share in (0, 1e-9, 0.00019, 0.0199, 0.0999, 0.129, 0.99999, 1)] == [
        "<0.01%", "<0.01%", "0.01%", "1.9%", "9.9%", "12%", "99%", "100%",
    ]  # fmt: skip


def test_the_time_left_is_a_range():
    assert time_left_text(10, 15) == "10 to 15 s left"
    assert time_left_text(90, 150) == "90 s to 2.5 minutes left"
    assert time_left_text(12.1, 12.2) == "about 12 s left"
    assert time_left_text(-3, 12) == "at most 12 s left"
    assert time_left_text(-3, -1) == "at most 1 ms left"


def shown(columns, **more):
    values = {
        "seconds": 12345.0, "paths": 10**15, "cycles": 8_136_453, "frontier": 1_234_567, "frontier_by_length": {},
        "cycles_by_length": {}, "device_bytes": 0, "share": 0.1234, **more,
    }  # fmt: skip
    stream = io.StringIO()
    display = ProgressDisplay("auto" if columns else "plain", stream, live=columns is not None)
    display.show(Progress(**values))
    display.draw()
    return stream.getvalue().removeprefix("\r\x1b[K").removesuffix("\n")


def test_the_progress_line_claims_no_search_while_a_kernel_is_compiled():
    line = shown(None, compiling=True)
    assert line.partition("  ")[2] == "compiling, once for this kind of graph"


@pytest.mark.parametrize(("width", "words"), [(0, " with a small boundary"), (21, ": boundary of 21 vertices so far")])
def test_the_progress_line_says_that_an_order_is_sought(width, words):
    line = shown(None, seconds=12.0, states=0, cycles=0, seeking_order=True, width=width)
    assert line == f"12.0 s  seeking a vertex order{words}"


@pytest.mark.parametrize(("number", "passes", "words"), [(3, 33, "pass 3 of 33  "), (1, 0, "pass 1  "), (0, 0, "")])
def test_the_progress_line_tells_the_pass_of_a_count_in_several(number, passes, words):
    line = shown(None, states=7_700, pass_number=number, passes=passes)
    assert line == f"3 h 25 min  12%  {words}8,136,453 cycles (659/s)  7.7 k states held"


def test_the_progress_line_has_a_rate_of_more_than_a_float_can_hold():
    line = shown(None, seconds=2.0, cycles=10**320, states=16)
    assert line == f"2.0 s  12%  {10**320:,} cycles (over 1e308/s)  16 states held"


def test_the_progress_line_shows_share_and_estimate(monkeypatch):
    estimate = {"cycles_estimate": 7.2e7, "cycles_low": 6.81e7, "cycles_high": 8e7}
    assert shown(None) == "3 h 25 min  12%  8,136,453 cycles (659/s)  waiting: 1.23 M paths"
    assert shown(None, **estimate) == (
        "3 h 25 min  12% of about 72 million cycles (68 to 80 million)  8,136,453 found  25 to 30 hours left"
        "  659/s  waiting: 1.23 M paths"
    )
    for columns in (90, 80, 60, 20):
        monkeypatch.setenv("COLUMNS", str(columns))
        line = shown(columns, **estimate)
        assert len(line) < columns
        whole = "3 h 25 min  12% of about 72 million  8,136,453 cycles  25 to 30 hours left  659/s"
        assert whole.startswith(line)
        assert ("left" in line) == (columns >= 80)
    # An estimate that is less than what was found, or has no spread, says nothing.
    for missing in ({"cycles_low": 5.0, "cycles_high": 9.0}, {"cycles_high": None}):
        assert "about" not in shown(None, **{**estimate, **missing})


@pytest.mark.parametrize(
    ("is_resumed", "speed"), [(False, "24 to 36 s left  17/s"), (True, "1.7 to 2.5 minutes left  4/s")]
)
def test_the_speed_of_a_resumed_run_is_that_of_this_session(monkeypatch, is_resumed, speed):
    """The seconds of the sessions before are those of their searches, without what they wrote."""
    news = {"frontier": 3, "frontier_by_length": {}, "cycles_by_length": {}, "device_bytes": 0, "share": 0.5}
    told = {"cycles_estimate": 1500.0, "cycles_low": 1400.0, "cycles_high": 1600.0}
    clock, stream = 1000.0, io.StringIO()
    monkeypatch.setattr("chordless.commands.terminal.time.monotonic", lambda: clock)
    display = ProgressDisplay("plain", stream, live=False, is_resumed=is_resumed)
    display.show(Progress(seconds=10.0, paths=0, cycles=800, **news, **told))
    clock = 1050.0
    display.show(Progress(seconds=11.0, paths=0, cycles=1000, **news, **told))
    assert stream.getvalue().endswith(f"1,000 found  {speed}\n")


@pytest.mark.parametrize(("columns", "longest"), [(40, 18), (25, 3), (15, 0)])
def test_a_histogram_on_a_narrow_terminal_has_bars_as_long_as_their_counts(monkeypatch, columns, longest):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = SimpleNamespace(isatty=lambda: True, encoding="utf-8")
    _, *rows = histogram({length: 3**length for length in range(3, 14)}, terminal, in_one_column=10)
    assert len(rows) == 11
    bars = ["".join(row.split()[2:]) for row in rows]
    assert bars[-1] == "█" * longest
    assert bars[0] == "▏" * (longest > 0)
    assert bars == sorted(bars, key=len)


@pytest.mark.slow
def test_plain_progress_goes_to_standard_error_only():
    done = chordless("count", LONG, *REFERENCE, "--timeout", "3", "--progress", "plain", "--json")
    assert "waiting" in done.stderr
    assert json.loads(done.stdout)["total"] > 0
    quiet = chordless("count", LONG, *REFERENCE, "--timeout", "3", "--progress", "plain", "-q")
    assert quiet.stderr == ""


@pytest.mark.slow
def test_a_live_line_on_a_terminal_is_taken_away_at_the_end():
    screen, terminal = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    done = chordless(
        "count", LONG, *REFERENCE, "--timeout", "2", capture_output=False, stdout=subprocess.PIPE, stderr=terminal,
        env=environment,
    )  # fmt: skip
    os.close(terminal)
    shown = os.read(screen, 1 << 16).decode()
    os.close(screen)
    lines = shown.split("\r\x1b[K")
    assert len(lines) > 2
    assert lines[0] == ""
    assert lines.pop().startswith(f"`chordless count {LONG} --method boundary` would ")
    assert any("cycles" in line for line in lines)
    assert max(map(len, lines)) < 80
    assert "\x1b" not in done.stdout


def test_a_terminal_that_is_gone_does_not_end_the_run():
    """A write fails even before the hang-up arrives, and where none ever does."""
    screen, terminal = pty.openpty()
    with open(terminal, "w") as stream:
        display = ProgressDisplay("auto", stream, live=True)
        os.close(screen)
        display.draw()
        display.clear()
        # What the display could not write is not tried again.
        stream.flush()
