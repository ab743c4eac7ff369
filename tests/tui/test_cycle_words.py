"""What the Cycles screen says where there are no cycles, and what stands for other characters in ASCII."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from chordless.graphs.load import load_graph
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import graph_hash
from chordless.runs.history import delete_run
from chordless.runs.state import RunState
from chordless.tui.cycle_words import offer_words, picked_words, separator_of
from chordless.tui.run_form import kept_pick_of, listing_of, with_kept_graph
from chordless.tui.widgets.glyphs import ASCII_FILTER
from rich.segment import Segment
from test_export import make_run
from textual.color import Color

COUNTED = RunState(phase="finished", reason="complete", graph="/home/me/roads.txt", n=65, cycles=1 << 20)


def test_a_run_that_only_counts_is_told_from_one_that_can_be_listed():
    text, button = offer_words(COUNTED, can_list=True)
    assert "has counted 1,048,576 cycles, but kept no list of them" in text
    # Two words of 64 bits for each cycle.
    assert "about 16.0 MiB on the disk" in text
    assert button == "List the cycles of roads.txt"


@pytest.mark.parametrize(
    ("options", "cycles", "words", "button"),
    [
        ({"pick": "sample"}, 20, "has drawn 20 cycles, but kept no list of them.", "Draw them again, and keep them"),
        ({"pick": "sample"}, 10**18, "has drawn 1,000,000,000,000,000,000 cycles", "Draw them again, and keep them"),
        ({"pick": "longest"}, 1, "has found 1 cycle, but kept no list of it.", "Find it again, and keep it"),
        ({"pick": "longest", "all_pairs": True}, 1, "has found 1 path, but kept no list of it.", ""),
    ],
)
def test_a_pick_without_its_cycles_is_made_again(options, cycles, words, button):
    picked = replace(COUNTED, cycles=cycles, options=options)
    text, label = offer_words(picked, can_list=True)
    assert words in text
    assert label == button
    assert offer_words(picked, can_list=False) == (text, "")


@pytest.mark.parametrize("can_list", [True, False])
def test_what_cannot_be_listed_is_not_offered(can_list):
    state = RunState(phase="running", graph="grid:7x10", n=70, cycles=9)
    assert offer_words(state, can_list) == (
        "This run only counts the cycles of grid:7x10.\n\nOnce it is over they can be listed from here.", ""
    )  # fmt: skip
    assert offer_words(RunState(phase="finished", reason="complete", n=5), can_list) == (
        "This run found no cycles.",
        "",
    )
    stopped = RunState(phase="finished", reason="interrupted", n=5)
    assert offer_words(stopped, can_list) == ("This run has no cycle to show: it ended too early.", "")
    assert (offer_words(COUNTED, can_list)[1] == "") == (not can_list)


def test_a_pick_is_made_again_with_the_same_seed(tmp_path):
    drawn = RunCommand("grid:7x10", 1.0, pick="sample", limit=20, seed=5, method="boundary", checkpoint="old")
    kept = kept_pick_of(drawn, tmp_path)
    assert (kept.pick, kept.limit, kept.seed, kept.method) == ("sample", 20, 5, "boundary")
    assert (kept.output_format, kept.output) == ("parts", str(tmp_path))


def test_a_listing_is_the_count_again_with_its_cycles_kept(tmp_path):
    counted = RunCommand(
        "grid:7x10", 1.0, arch="cpu", max_length=20, avoid=("0,0",), method="boundary", checkpoint="old", resume=True,
        per_vertex=True,
    )  # fmt: skip
    listing = listing_of(counted, tmp_path)
    assert (listing.graph, listing.max_length, listing.avoid, listing.arch) == ("grid:7x10", 20, ("0,0",), "cpu")
    assert listing.output == listing.checkpoint == str(tmp_path)
    assert (listing.output_format, listing.method, listing.resume, listing.per_vertex) == (
        "parts", "search", False, False,
    )  # fmt: skip
    assert time.monotonic() - listing.program_start < 60


@pytest.mark.parametrize("graph", ["-", "/tmp/no-such-file.txt"])
def test_a_graph_that_cannot_be_read_again_is_taken_from_the_run(tmp_path, graph):
    loaded = load_graph("grid:3x3")
    make_run(tmp_path / "run", loaded.graph)
    counted = RunCommand(graph, 1.0, simplify=True, file_format="gml", checkpoint=str(tmp_path / "run"))
    kept = with_kept_graph(counted)
    again = load_graph(kept.graph, multigraph=kept.multigraph, simplify=kept.simplify, file_format=kept.file_format)
    assert graph_hash(again.graph) == graph_hash(loaded.graph)
    assert with_kept_graph(replace(counted, graph="grid:7x10")).graph == "grid:7x10"
    # It counts as one of the files of the run.
    delete_run(tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("drawn", "plain"),
    [
        ("╭──╮│┃", "+--+||"),
        ("▁▔█▌", "    "),
        ("🔎 ▶ …", ">  > ."),
        ("▸ ▾", "+ -"),
        ("naïve 日本", "na?ve ? ? "),
        ("as it is", "as it is"),
    ],
)
def test_a_line_is_as_wide_in_ascii(drawn, plain):
    (segment,) = ASCII_FILTER.apply([Segment(drawn)], Color(0, 0, 0))
    assert segment.text == plain
    assert segment.cell_length == Segment(drawn).cell_length


def test_of_too_many_cycles_some_are_drawn_at_random():
    text, button = offer_words(replace(COUNTED, cycles=10**18), can_list=True)
    assert "too many to be listed" in text
    assert button == "Draw 1,000 of them at random"
    paths = replace(COUNTED, cycles=10**18, options={**COUNTED.options, "between": ("0,0", "8,8")})
    assert offer_words(paths, can_list=True)[1] == button
    text, button = offer_words(replace(paths, options={**COUNTED.options, "all_pairs": True}), can_list=True)
    assert ("paths ... --sample" in text, button) == (True, "")


@pytest.mark.parametrize(
    ("found", "asked", "words"),
    [
        ({}, {}, ""),
        ({"width": 3, "states": 9, "ways": 1}, {}, "the only one of this length"),
        ({"ways": 1}, {"weight": "w.txt"}, "the only one of this weight"),
        ({"ways": 0}, {}, ""),
        ({"drawn_from": 0}, {}, ""),
        ({"ways": 1398}, {}, "one of the 1,398 longest"),
        ({"ways": 1398}, {"shortest": True}, "one of the 1,398 shortest"),
        ({"ways": 2}, {"shortest": True, "weight": "w.txt"}, "one of the 2 lightest"),
        ({"drawn_from": 3436}, {"pick": "sample"}, "drawn at random from 3,436"),
    ],
)
def test_what_was_picked_is_told(found, asked, words):
    weight = "12" if "weight" in asked else None
    assert picked_words(RunState(boundary=found, options={"pick": "longest", **asked}, weight=weight)) == words


@pytest.mark.parametrize(
    ("names", "separator"),
    [(["3", "258"], ", "), (["0,1", "0,2"], " "), (["a, b", "c"], "; "), (["Big Ben", "Soho"], ", ")],
)
def test_names_are_separated_by_what_none_of_them_has(names, separator):
    assert separator_of(names) == separator
