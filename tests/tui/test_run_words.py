"""What the dashboard says of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chordless.protocol.events import Progress
from chordless.runs.state import RunState
from chordless.tui import run_words, tile_words
from chordless.tui.batch_session import BatchState
from chordless.tui.batch_words import now_text
from chordless.tui.widgets.frontier_view import frontier_words

RUNNING = RunState(
    phase="running", began=1.0, changed=100.0, graph="a", n=9, m=12, max_degree=4, arch="cpu", device="x", seconds=10.0,
    paths=5000, cycles=1000, frontier=12_345, share=0.2, memory_bytes=1 << 27, device_bytes=1 << 20,
    path_rates=(100.0, 250.0), cycle_rates=(50.0, 2500.0),
)  # fmt: skip

_NOTHING = Progress(
    seconds=0.0, paths=0, cycles=0, frontier=0, frontier_by_length={}, cycles_by_length={}, device_bytes=0
)


@pytest.mark.parametrize(
    ("share", "seconds", "note"),
    [
        (0.2, 10.0, "about 40 s left"),
        (0.01, 10.0, "about 16 min 30 s left"),
        (0.0001, 10.0, "too early to say how long it takes"),
        (0.5, 0.5, "too early to say how long it takes"),
    ],
)
def test_the_time_left_is_no_promise(share, seconds, note):
    assert tile_words.share_tile(replace(RUNNING, share=share, seconds=seconds)).notes[0] == note


def test_a_pick_whose_vertices_have_all_come_is_not_called_done():
    came = replace(RUNNING, options={"pick": "sample"}, states=1, share=1.0, seconds=10.0)
    assert tile_words.share_tile(came).short == "going back"
    assert tile_words.share_tile(replace(came, options={})).short != "going back", "a count has no way back"


def test_the_time_left_follows_the_estimate_once_there_is_one():
    """Grid 9x10 after 42 s: the branching said 20%, but nearly half of the cycles were found."""
    state = replace(RUNNING, share=0.2, seconds=42.0, cycles=326_000_000)
    state = replace(state, cycles_estimate=6.9e8, cycles_low=5e8, cycles_high=9e8)
    assert tile_words.share_tile(state).notes[0] == "about 47 s left"
    exceeded = replace(state, cycles_estimate=3e8, cycles_low=2e8, cycles_high=5e9)
    assert tile_words.share_tile(exceeded).notes[0] == "about 2 min 48 s left"


def test_a_single_graph_a_second_is_no_graphs():
    state = BatchState(phase="running", done=4, seconds=4.0)
    assert now_text(state).startswith("1 graph/s")
    assert now_text(replace(state, done=8)).startswith("2 graphs/s")


def test_the_speed_of_a_replay_has_two_decimals_at_the_most():
    assert run_words.replay_words(1.6254, 3.0, 48.8, paused=False).startswith("REPLAY 1.63x,")
    assert run_words.replay_words(1024.0, 3.0, None, paused=False).startswith("REPLAY 1024x,")


def test_a_long_time_left_is_told_in_years_and_none_from_a_vague_estimate():
    state = replace(RUNNING, share=1e-12, cycles_estimate=1e19, cycles_low=9e18, cycles_high=1.1e19)
    assert tile_words.share_tile(state).notes[0] == "about 3.2 billion years left"
    vague = replace(state, cycles_low=420.0, cycles_high=2.2e14, cycles_estimate=1e10)
    assert tile_words.share_tile(vague).notes == ("too early to say how long it takes",)
    assert tile_words.cycles_tile(vague).notes == ("2.5 k/s",)
    # Beside "65%" it would be strange to say that nobody knows.
    assert tile_words.share_tile(replace(vague, share=0.65, seconds=16.0)).notes == ("about 9 s left",)


def test_a_run_that_has_not_told_its_folder_yet_is_not_without_one():
    assert tile_words.checkpoint_tile(RunState()).value == "none yet"
    assert tile_words.checkpoint_tile(RUNNING).notes == ("this run has no folder",)


def test_a_finished_run_tells_both_its_times():
    over = replace(RUNNING, phase="finished", reason="complete", share=1.0, seconds=0.17, total_seconds=5.2)
    tile = tile_words.share_tile(over)
    assert tile.notes == ("search 170 ms", "5.2 s in all")
    assert tile_words.estimate_tile(over).short == "search 170 ms, 5.2 s in all"
    assert tile_words.share_tile(replace(over, total_seconds=0.0)).notes == ("search 170 ms",)
    # Where the estimate has no room beside the times, it is left out as a whole.
    stopped = replace(over, reason="interrupted", cycles_estimate=7.2e7, cycles_low=6.9e7, cycles_high=7.7e7)
    assert tile_words.estimate_tile(stopped).shorter == (
        "search 170 ms, 5.2 s in all; of about 72 million",
        "search 170 ms, 5.2 s in all",
        "search 170 ms, 5.2 s in all",
    )


def test_paths_that_change_from_run_to_run_are_not_told_to_the_last_digit():
    over = replace(RUNNING, phase="finished", reason="complete", paths=31_513_966)
    assert tile_words.paths_tile(over).value == "about 31.5 M"
    for exact in ({"options": {"expansion": "paper"}}, {"options": {"threads": 1}}, {"arch": "vulkan"}):
        assert tile_words.paths_tile(replace(over, **exact)).value == "31,513,966"
    # Exact digits do not turn into rough ones at the end.
    assert tile_words.paths_tile(replace(RUNNING, paths=31_513_966)).value == "about 31.5 M"


def test_an_estimate_is_shown_with_its_spread_until_it_is_refuted():
    some = replace(RUNNING, cycles_estimate=7.2e7, cycles_low=6.9e7, cycles_high=7.7e7)
    assert tile_words.cycles_tile(some).notes == ("2.5 k/s", "of about 72 million", "(69 to 77 million)")
    more = tile_words.cycles_tile(replace(some, cycles=75_000_000)).notes
    assert more[-2:] == ("of about 76 million", "(75 to 77 million)")
    for other in (replace(some, cycles=10**8), replace(some, phase="finished", reason="complete"), RUNNING):
        assert not any("about" in note for note in tile_words.cycles_tile(other).notes)
    listing = replace(some, options={"output": "x"}, listed=1234)
    tile = tile_words.estimate_tile(listing)
    assert tile.short == "1,234 listed; of about 72 million (69 to 77 million)"
    assert tile.shorter[0] == "1,234 listed; of about 72 million"
    assert tile.shorter[-1] == "1,234 listed"


def test_memory_is_held_against_the_budget_of_the_device_that_has_it():
    budget = {"memory": 1 << 30}
    assert tile_words.memory_tile(RUNNING).notes[0] == "half of free allowed"
    for before_its_first_report in ("starting", "running"):
        told = tile_words.memory_tile(RunState(phase=before_its_first_report))
        assert (told.short, told.notes) == ("memory not known yet", ())
    stopped_early = RunState(phase="finished", reason="interrupted")
    assert tile_words.memory_tile(stopped_early).short == "memory not known"
    on_cpu = tile_words.memory_tile(replace(RUNNING, options=budget))
    assert (on_cpu.value, on_cpu.short) == ("128 MiB", "memory 128 MiB of 1.0 GiB")
    on_gpu = tile_words.memory_tile(replace(RUNNING, options=budget, arch="cuda"))
    assert (on_gpu.value, on_gpu.notes) == ("1.0 MiB", ("of 1.0 GiB allowed", "128 MiB of the host"))
    over = replace(RUNNING, phase="finished", reason="complete", peak_memory_bytes=1 << 28)
    assert tile_words.memory_tile(over).value == "256 MiB"


@pytest.mark.parametrize(
    ("phase", "when", "value"),
    [
        ("running", 88.0, "12 s ago"),
        ("running", 99.5, "just now"),
        ("paused", 88.0, "12 s before the pause"),
        ("failed", 88.0, "12 s before the end"),
        ("failed", 99.5, "500 ms before the end"),
        ("lost", 100.0, "at the end"),
        ("finished", 99.9, "at the end"),
        ("running", None, "none yet"),
    ],
)
def test_the_age_of_a_checkpoint(phase, when, value):
    # Only the seconds of search count: between two sessions nothing is lost.
    state = replace(RUNNING, phase=phase, directory="/runs/a", checkpoint_time=when and 1.0, checkpoint_cycles=7)
    state = replace(state, seconds=100.0, checkpoint_seconds=when or 0.0)
    assert tile_words.checkpoint_tile(state).value == value
    assert tile_words.checkpoint_tile(replace(state, directory=None)).value == "none"
    assert min(map(len, tile_words.checkpoint_tile(state).shorter), default=0) <= 22, "the room at 80x24"


def test_the_cycles_of_a_checkpoint_fit_into_the_tile():
    def kept(cycles):
        state = replace(RUNNING, directory="/runs/a", checkpoint_time=1.0, checkpoint_cycles=cycles)
        return tile_words.checkpoint_tile(state).notes

    assert kept(1) == ("at 1 cycle",)
    assert kept(78_586_742) == ("at 78,586,742 cycles",)
    assert kept(421_587_920_205_546) == ("at about 422 T cycles",)


def test_the_next_checkpoint_is_announced():
    state = replace(RUNNING, directory="/runs/a", began=72.0, options={"checkpoint_every": 60.0})
    tile = tile_words.checkpoint_tile(state)
    assert (tile.value, tile.notes, tile.short) == ("none yet", ("next in 32 s",), "no checkpoint yet, next in 32 s")
    for other in (replace(state, phase="paused"), replace(state, began=1.0)):
        assert tile_words.checkpoint_tile(other).short == "no checkpoint yet"
    later = replace(state, checkpoint_time=1.0, seconds=50.0, checkpoint_seconds=8.0)
    assert tile_words.checkpoint_tile(later).short == "last checkpoint 42 s ago"


def test_notes_of_the_reader_are_one_line_without_the_name_of_the_file():
    notes = ("a:1: taken for a heading, not for an edge: u,v", "a: the third column, weights, is not used")
    words = "line 1: taken for a heading, not for an edge: u,v; the third column, weights, is not used"
    assert run_words.note_words(replace(RUNNING, notes=notes)) == words
    assert run_words.note_words(RUNNING) == ""


def test_a_count_along_a_boundary_has_states_and_no_paths():
    state = replace(RUNNING, states=4321, paths=0, frontier=0, directory="d")
    assert tile_words.paths_tile(state).short == "4,321 states"
    assert tile_words.cycles_tile(state).rates == ()
    assert tile_words.checkpoint_tile(state).short.startswith("no checkpoint yet")


@pytest.mark.parametrize(
    ("pick", "found", "cycles", "words"),
    [
        ("longest", {"ways": 1398}, {20: 1}, "longest: 20 vertices, 1,398 are as long"),
        ("longest", {"ways": 1}, {7: 1}, "longest: 7 vertices, the only one"),
        ("longest", {"ways": 0}, {}, "no chordless cycle"),
        ("sample", {"drawn_from": 10**18}, {20: 3, 18: 2}, "5 drawn from 1,000,000,000,000,000,000"),
        ("sample", {}, {}, "none picked yet"),
    ],
)
def test_picked_cycles_are_told_with_what_they_were_picked_from(pick, found, cycles, words):
    options = {**RUNNING.options, "pick": pick, "output": "d", "output_format": "parts"}
    state = replace(RUNNING, phase="finished", reason="complete", options=options, boundary=found, states=9)
    state = replace(state, cycles=sum(cycles.values()), cycles_by_length=cycles)
    assert tile_words.cycles_tile(state).short == words
    if pick == "longest" and cycles:
        shortest = replace(state, options={**options, "shortest": True})
        assert tile_words.cycles_tile(shortest).short == words.replace("long", "short")
        lightest = replace(shortest, options={**shortest.options, "weight": "w"}, weight="8.5")
        length, many = words.removeprefix("longest: ").replace("are as long", "weigh as much").split(" vertices, ")
        assert tile_words.cycles_tile(lightest).short == f"lightest: weight 8.5, {length} vertices, {many}"
    stopped = replace(state, reason="interrupted", cycles=0)
    assert run_words.trouble_words(stopped, "r", "f2").startswith("The run was stopped before its end")
    assert run_words.has_picked(state) == bool(cycles)


def test_a_cycle_that_was_found_without_a_boundary_has_no_states():
    found = replace(RUNNING, phase="finished", reason="complete", states=0, width=0)
    assert tile_words.paths_tile(found).short == "no states"
    assert frontier_words(found)[0] == "No boundary was needed, and no states."
    assert tile_words.paths_tile(replace(found, states=9, width=3)).short == "9 states at the most"


def test_every_ending_has_words_and_a_glyph_of_its_own():
    states = [RunState(phase=phase) for phase in ("starting", "running", "paused", "failed", "lost")]
    states += [RunState(phase="finished", reason=reason) for reason in ("complete", "limit", "timeout", "interrupted")]
    for ascii_only in (False, True):
        texts = [run_words.phase_words(state).text(ascii_only=ascii_only) for state in states]
        assert len(set(texts)) == len(texts)
        assert not ascii_only or all(text.isascii() for text in texts)
    assert [bool(run_words.trouble_words(state, "r", "f2")) for state in states] == [False] * 3 + [True] * 2 + [
        False, True, True, True,
    ]  # fmt: skip


def test_a_complete_run_is_not_gone_on_with():
    damaged = RunState(phase="failed", reason="complete", error="the recording cannot be read from line 9 of x on: y")
    words = "The recording cannot be read from line 9 of x on: y."
    assert run_words.trouble_words(damaged, "r", "f2") == words


def test_searches_of_equal_graphs_are_told_apart():
    assert run_words.search_words({}) == "all lengths"
    options = {"min_length": 4, "max_length": 9, "expansion": "paper", "avoid": ("a", "b"), "part": (1, 3)}
    assert run_words.search_words(options) == "lengths 4 to 9, breadth first, avoiding a b, part 1 of 3"


def test_the_time_left_along_a_boundary_leaves_out_the_time_of_the_order():
    reports = [replace(_NOTHING, seconds=10.0, states=0), replace(_NOTHING, seconds=12.0, states=9, share=0.1)]
    state = RunState().after((float(i), report) for i, report in enumerate(reports))
    assert run_words.time_left(state) is None
    state = state.after([(3.0, replace(_NOTHING, seconds=14.0, states=9, share=0.5))])
    assert run_words.time_left(state) == pytest.approx(2.5)


def test_stopping_now_says_what_it_costs():
    state = RunState(phase="running", checkpoint_time=100.0, checkpoint_seconds=100.0, seconds=164.2)
    assert run_words.stop_now_words(state) == "Stop now, lose the last 64 s"
    assert run_words.stop_now_words(replace(state, checkpoint_seconds=164.0)) == "Stop now"
    assert run_words.stop_now_words(RunState(phase="running", seconds=164.2)) == "Stop now, lose what was found"


def test_the_rate_of_a_cluster_is_that_of_several_reports():
    """Its workers report in turns: between two reports there is often nothing new."""
    state = RunState(phase="running", seconds=2.0, cycles=10, cycle_rates=(8.0, 0.0), path_rates=(90.0, 0.0))
    assert tile_words.cycles_tile(state).notes[0] == "0/s"
    cluster = replace(state, workers=[{"name": "a"}])
    assert tile_words.cycles_tile(cluster).notes[0] == "4/s"
    assert tile_words.paths_tile(cluster).notes[0] == "45/s"


def test_no_rate_is_shown_while_a_kernel_is_compiled():
    state = RunState(phase="running", seconds=2.0, cycles=10, cycle_rates=(5.0,), path_rates=(9.0,), compiling=True)
    assert run_words.phase_words(state).word == "compiling, once"
    assert run_words.phase_words(replace(state, paths=3)).word == "compiling kernels for the rest"
    assert not any("/s" in note for note in tile_words.cycles_tile(state).notes)
    searching = replace(state, compiling=False)
    assert run_words.phase_words(searching).word == "running"
    assert "5/s" in tile_words.cycles_tile(searching).notes
    assert run_words.phase_words(replace(state, phase="paused")).word == "paused"
    for phase in ("paused", "starting"):
        halted = replace(searching, phase=phase)
        assert tile_words.cycles_tile(halted).short == "cycles 10"
        assert tile_words.paths_tile(halted).notes == ("",)


def test_cycles_that_a_stop_left_unlisted_are_told_to_wait():
    state = replace(RUNNING, phase="finished", reason="interrupted", can_resume=True, checkpoint_cycles=1000)
    state = replace(state, options={"output": "x"}, listed=970)
    assert "30 wait in the checkpoint" in tile_words.cycles_tile(state).notes
    assert tile_words.estimate_tile(state).short.startswith("970 listed; 30 wait in the checkpoint; search")
    at_once = replace(state, checkpoint_cycles=900)
    for other in (replace(state, listed=1000), replace(state, can_resume=False), at_once, replace(state, options={})):
        assert "wait" not in tile_words.estimate_tile(other).short


def test_a_lower_bound_that_tells_no_more_than_was_found_is_left_out():
    vague = RunState(cycles_estimate=1e9, cycles_low=64.0)
    assert tile_words.estimate_tile(vague).short == ""
    assert tile_words.estimate_tile(replace(vague, cycles_low=9e6)).short == "of at least 9 million"
    assert tile_words.estimate_tile(replace(vague, cycles_low=9e6, cycles=2_000_000)).short == ""


def test_nothing_is_counted_while_an_order_is_sought():
    state = RunState(phase="running", seconds=12.0, states=0, width=21, seeking_order=True)
    assert run_words.phase_words(state).word == "seeking an order"
    assert tile_words.paths_tile(state).short == "boundary of 21 vertices so far"
    assert tile_words.paths_tile(state).shorter == ("boundary of 21 so far",)
    assert tile_words.cycles_tile(state).short == "no cycles counted yet"
    assert tile_words.paths_tile(replace(state, width=0)).short == "no order yet"
    stopped = replace(state, phase="finished", reason="interrupted", seeking_order=False)
    assert tile_words.paths_tile(stopped).short == "no states"
    # One with a boundary of 21 vertices was found.
    assert tile_words.paths_tile(stopped).notes == ("the order of the vertices was not settled",)
    assert "nothing was counted" in frontier_words(stopped)[0]
    counting = replace(state, states=1, width=1, seeking_order=False)
    assert tile_words.paths_tile(counting).notes == ("state", "boundary of 1 vertex")
    assert tile_words.paths_tile(counting).short == "1 state"


def test_paths_of_a_search_that_had_none_to_grow_are_told_so():
    ended = replace(RunState(), phase="finished", reason="complete", arch="cpu", cycles=167, seconds=1.0)
    assert tile_words.paths_tile(ended).notes == ("no path had to grow",)
    assert tile_words.paths_tile(replace(ended, paths=107)).notes == ("107/s", "expanded")


def test_a_phase_in_which_nothing_moves_tells_its_time():
    assert run_words.clock_words(RunState(), 12.3) == "12 s"
    assert run_words.clock_words(RunState(), 0.0) == ""
    # The clock of the search stands still while kernels are compiled.
    assert run_words.clock_words(replace(RUNNING, compiling=True, seconds=3.0), 1.6) == "2 s"
    assert run_words.clock_words(RUNNING, 1.6) == ""


def test_a_search_at_work_tells_how_long_it_has_gone_on():
    assert run_words.spent_words(replace(RUNNING, seconds=5.2), 4.0) == "5.2 s"
    assert run_words.spent_words(replace(RUNNING, seconds=5.2, phase="paused"), 0.0) == "5.2 s"
    # A checkpoint of gigabytes is being written: the numbers are old.
    assert run_words.spent_words(replace(RUNNING, seconds=93.9), 38.4) == "93.9 s, no report for 38 s"
    for other in (replace(RUNNING, compiling=True), replace(RUNNING, phase="finished"), RunState()):
        assert run_words.spent_words(other, 9.0) == ""


def test_the_graph_is_told_as_fully_as_there_is_room():
    state = replace(RUNNING, graph="grid:9x10", n=90, m=161, max_degree=4, arch="cpu", device="EPYC", options={})
    full = "  grid:9x10: 90 vertices, 161 edges, max degree 4  cpu: EPYC"
    assert run_words.graph_and_device(state, "  ", len(full)) == full
    assert run_words.graph_and_device(state, "  ", len(full) - 1) == full.removesuffix("  cpu: EPYC")
    assert run_words.graph_and_device(state, "  ", 40) == "  grid:9x10: 90 vertices, 161 edges"
    assert run_words.graph_and_device(state, "  ", 20) == run_words.graph_and_device(state, "  ", 0) == "  grid:9x10"
    assert run_words.graph_and_device(RunState(), "  ", 99) == ""
    of_a_file = replace(state, graph="/home/ada/webs/lake.net")
    assert run_words.graph_and_device(of_a_file, "  ", 40) == "  lake.net: 90 vertices, 161 edges"


def test_a_spec_with_slashes_is_no_path():
    assert run_words.graph_name("smiles:F/C=C/F") == "smiles:F/C=C/F"
    assert run_words.graph_name("webs/lake.net") == "lake.net"


def test_a_wave_tells_its_level_and_no_share_and_no_end():
    known = replace(RUNNING, share=1e-5, cycles=500, cycles_estimate=1000.0, cycles_low=800.0, cycles_high=1250.0)
    wave = replace(known, options={"expansion": "paper"}, waiting_by_length={7: 30, 8: 900}, seconds=9.0)
    tile = tile_words.share_tile(wave)
    assert (tile.value, tile.share) == ("level 8", None)
    assert run_words.time_left(wave) is None
    assert "of about 1,000" in tile_words.cycles_tile(wave).notes
    assert not any("of about" in note for note in tile_words.cycles_tile(replace(wave, cycles_high=1e6)).notes)
    for phase in ("starting", "paused", "finished", "failed"):
        halted = replace(wave, phase=phase)
        assert (tile_words.share_tile(halted).value, run_words.reached_words(halted)) == ("level 8", "level 8")
    assert tile_words.share_tile(replace(wave, phase="finished", reason="interrupted")).notes == ("search 9.0 s",)
    assert run_words.reached_words(known) == "<0.01%"
    over = replace(wave, reason="complete", phase="finished", share=1.0)
    assert tile_words.share_tile(over).share == 1.0


def test_the_share_is_that_of_the_cycles_where_their_number_is_known():
    search = replace(RUNNING, share=1e-5, cycles=980, cycles_estimate=1000.0, cycles_low=1000.0, cycles_high=1000.0)
    assert tile_words.share_tile(replace(search, is_counted=True)).share == pytest.approx(0.98)
    assert "of 1,000" in tile_words.cycles_tile(replace(search, is_counted=True)).notes
    assert tile_words.share_tile(replace(search, cycles=1000, is_counted=True)).value == "99%"
    vague = replace(search, cycles_low=1.0, cycles_high=1e9)
    assert tile_words.share_tile(vague).share == 1e-5
