"""Filtering and sorting cycles by chunks, against sorting them at once; what people write to choose them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from chordless import generate
from chordless.cycles import index as cycle_index
from chordless.cycles.index import (
    ORDERS,
    CycleFilter,
    CycleIndex,
    build_index,
    needed_bytes,
    parse_lengths,
    parse_vertices,
)
from chordless.cycles.read import CycleStore

from kernels_ti import EngineError, Graph, OptionError


def random_store(n, k, seed=3):
    """Make bit rows of many lengths, in three parts, and the set of vertices of each."""
    random = np.random.default_rng(seed)
    members = random.random((k, 64 * -(-n // 64))) < random.random((k, 1))
    members[:, n:] = False
    members[:, :3] = True
    rows = np.packbits(members, axis=1, bitorder="little").view(np.uint64).reshape(k, -1)
    return CycleStore(np.array_split(rows, [k // 5, k // 2])), members[:, :n]


def expected(members, chosen, order):
    lengths = members.sum(axis=1)
    kept = [
        i
        for i, length in enumerate(lengths.tolist())
        if chosen.min_length <= length <= (chosen.max_length or length) and members[i, list(chosen.through)].all()
    ]
    sign = {"found": 0, "longest": -1, "shortest": 1}[order]
    return sorted(kept, key=lambda i: (sign * lengths[i], i))


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(cycle_index, "_CHUNK_BYTES", 700)
    monkeypatch.setattr(cycle_index, "_LARGEST_CHUNK", 37)


FILTERS = [
    CycleFilter(),
    CycleFilter(20, 45),
    CycleFilter(min_length=40),
    CycleFilter(max_length=9),
    CycleFilter(through=(69,)),
    CycleFilter(10, 60, (5, 63, 64)),
    CycleFilter(min_length=1000),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("chosen", FILTERS)
def test_every_window_is_that_of_a_sort_at_once(small_chunks, chosen, order):
    store, members = random_store(70, 500)
    index = build_index(store, chosen, order, 70)
    wanted = expected(members, chosen, order)
    assert len(index) == len(wanted)
    assert index.window(0, len(index)).tolist() == wanted
    for start, stop in itertools.product((-3, 0, 1, 7, 250, 499), (0, 1, 8, 251, 700)):
        assert index.window(start, stop).tolist() == wanted[max(start, 0) : max(stop, 0)]
    lines = {position: line for line, position in enumerate(wanted)}
    for position in range(500):
        assert index.line_of(position, int(members[position].sum())) == lines.get(position)
    assert index.line_of(500, 10) is None


def test_the_other_direction_takes_no_work():
    store, members = random_store(70, 200)
    index = build_index(store, CycleFilter(5), "longest", 70)
    turned = index.with_order("shortest")
    assert turned.positions is index.positions
    assert turned.window(0, 200).tolist() == expected(members, CycleFilter(5), "shortest")
    assert index.with_order("found") is None
    assert CycleIndex(200).with_order("longest") is None


@pytest.mark.parametrize("n", [255, 256, 300])
def test_lengths_that_need_more_than_a_byte(n):
    rows = np.zeros((3, 5), np.uint64)
    rows[0, 0] = 7
    for v in range(n):
        rows[1, v // 64] |= np.uint64(1 << v % 64)
    rows[2, 0] = 15
    index = build_index(CycleStore([rows]), CycleFilter(), "longest", n)
    assert index.window(0, 3).tolist() == [1, 2, 0]


def test_no_cycles():
    for order in ORDERS:
        index = build_index(CycleStore([]), CycleFilter(3, 8), order, 10)
        assert len(index) == 0
        assert index.window(0, 10).tolist() == []


def test_progress_rises_and_a_cancelled_one_gives_nothing(small_chunks):
    store, _ = random_store(70, 500)
    shares = []
    assert build_index(store, CycleFilter(5), "longest", 70, tell=shares.append) is not None
    assert shares == sorted(shares)
    assert shares[-1] == 1
    for chunks in (0, 3, len(shares) - 1):
        told = []
        cancelled = lambda told=told, chunks=chunks: len(told) >= chunks  # noqa: E731
        assert build_index(store, CycleFilter(5), "longest", 70, tell=told.append, cancelled=cancelled) is None
        assert len(told) == chunks


def test_what_does_not_fit_in_memory_is_refused(monkeypatch):
    assert needed_bytes(50_000_000, 80) == 250_000_000
    assert needed_bytes(50_000_000, 1000) == 300_000_000
    store, _ = random_store(70, 500)
    monkeypatch.setattr(cycle_index.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 4000})())
    with pytest.raises(EngineError, match="500 cycles"):
        build_index(store, CycleFilter(), "longest", 70)
    assert len(build_index(store, CycleFilter(), "found", 70)) == 500


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("", (3, None)), ("8", (8, 8)), ("= 8", (8, 8)), (" 8 - 12 ", (8, 12)), ("8..12", (8, 12)),
        (">=30", (30, None)), (">30", (31, None)), ("<=9", (3, 9)), ("<9", (3, 8)), ("≥ 4", (4, None)),
        ("1-4", (3, 4)), ("1,000", (1000, 1000)),
    ],
)  # fmt: skip
def test_lengths(text, bounds):
    assert parse_lengths(text) == bounds
    assert parse_lengths(CycleFilter(*bounds).lengths_text()) == bounds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "such as 8-12"), ("8-", "such as"), ("-3", "such as"), ("2", "at least 3"), ("<3", "at least 3"),
        ("9-8", "9 is more"),
    ],
)  # fmt: skip
def test_no_lengths(text, said):
    with pytest.raises(OptionError, match=said):
        parse_lengths(text)


def test_vertices():
    grid = generate("grid:3x4")
    assert parse_vertices("", grid) == ()
    assert parse_vertices(" 0,1  2,3, 0,1", grid) == (1, 11)
    named = Graph.from_edges(3, [(0, 1)], names=["blue crab", "blue", "crab"])
    assert parse_vertices("blue crab", named) == (0,)
    assert parse_vertices("crab, blue; blue crab", named) == (2, 1, 0)
    with pytest.raises(OptionError, match="no vertex '2,9'; did you mean"):
        parse_vertices("0,1 2,9", grid)
    with pytest.raises(OptionError, match="they are called 0,0 to 2,3"):
        parse_vertices("north", grid)
