"""Parts of a search: disjoint, and together the whole, whatever the graph and however many there are."""

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laid_out import block_batches
from oracles import check_cycles, disjoint_union, grid, levels_of
from program import chordless

from kernels_ti import Device, Graph, Options, Run
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.blocks.search_space import Begun
from kernels_ti.cycles import canonical
from kernels_ti.estimate import parts as partition
from kernels_ti.estimate.estimate import seed_weights
from kernels_ti.estimate.host_step import HostBlocks, populations
from kernels_ti.estimate.parts import seed_frames, split
from kernels_ti.reference.algorithm import chordless_cycles
from kernels_ti.state import Frames, Layout


def gnp(n: int, p: float, seed: int) -> Graph:
    return Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))


def complete(n: int) -> Graph:
    return Graph.from_networkx(nx.complete_graph(n))


def groups_of(graph: Graph, **layout: object) -> list[BlockGroup]:
    return block_batches(graph, Layout(**layout), 64)[0]


def parts_of(groups: list[BlockGroup], parts: int, max_length: int, collect: bool = True) -> list[Begun]:
    weights = seed_weights(groups, max_length)
    return [split(groups, weights, part, parts, max_length, collect) for part in range(1, parts + 1)]


def bits(row: np.ndarray) -> int:
    return int.from_bytes(np.ascontiguousarray(row).tobytes(), "little")


def labels(row: int) -> list[int]:
    return [label for label in range(row.bit_length()) if row >> label & 1]


def drained(group: BlockGroup, frames: Frames, max_length: int) -> list[list[int]]:
    """Search some frames depth first, at one end alone; return their cycles in canonical order."""
    rows = [bits(row) for row in HostBlocks(group).rows]
    cycles = []
    for i in range(len(frames)):
        end = int(frames.end[i])
        first = int(group.first_row[end])
        assert frames.members is not None
        stack = [
            (bits(frames.allowed[i]), bits(frames.members[i]) | 1 << label, label)
            for label in labels(bits(frames.extensions[i]))
        ]
        while stack:
            allowed, members, v = stack.pop()
            assert members.bit_count() < max_length, "a path that is too long to close a cycle"
            for label in labels(rows[first + v] & allowed):
                if rows[end] >> label & 1:
                    cycles.append(ordered(group, first, members | 1 << label))
                elif members.bit_count() + 2 <= max_length:
                    stack.append((allowed & ~rows[first + v], members | 1 << label, label))
    return cycles


def ordered(group: BlockGroup, first: int, members: int) -> list[int]:
    rows = {first + label for label in labels(members)}
    near = {r: rows & set(group.neighbour[group.row_ptr[r] : group.row_ptr[r + 1]].tolist()) for r in rows}
    order = [min(rows)]
    while len(order) < len(rows):
        order.append(min(near[order[-1]] - set(order)))
    return canonical(group.vertex_of_row[order].tolist())


def check_parts(graph: Graph, parts: int, max_length: int, **layout: object) -> None:
    groups = groups_of(graph, **layout)
    made = parts_of(groups, parts, max_length)
    assert all(state.surveyed == 0 for state in made[0].groups)
    found = list(made[0].found)
    assert Counter(map(len, found)) == made[0].totals.cycles
    for number, part in enumerate(made):
        assert len(part.groups) == len(groups)
        frames_of = [list(state.frames) for state in part.groups]
        share = sum(frames.share for pieces in frames_of for frames in pieces)
        assert share == pytest.approx(1) or not any(frames_of)
        for group, state, frames in zip(groups, part.groups, frames_of, strict=True):
            seeds = len(group.seed_entries)
            assert (state.next_seed, state.surveyed) == (seeds, 0 if number == 0 else seeds)
            for piece in frames:
                assert len(piece)
                assert (populations(piece.extensions) >= 1).all()
                assert (populations(piece.members) == piece.length).all()
                found += drained(group, piece, max_length)
        if number:
            assert (part.found, part.totals.cycles, part.totals.paths) == ([], {}, {})
    check_cycles(graph, found)
    assert sorted(found) == sorted(c for c in chordless_cycles(graph, max_length=max_length) if len(c) > 3)


@settings(max_examples=60)
@given(
    n=st.integers(4, 13),
    p=st.floats(0.1, 0.7),
    seed=st.integers(0, 1000),
    parts=st.integers(1, 7),
    max_length=st.integers(3, 13),
    nested=st.booleans(),
)
def test_parts_of_random_graphs_are_disjoint_and_complete(n, p, seed, parts, max_length, nested):
    check_parts(gnp(n, p, seed), parts, max_length, nested=nested)


@pytest.fixture
def few_frames(monkeypatch):
    """Deal out the frames of an early level, so that the parts have something to do in small graphs."""
    monkeypatch.setattr(partition, "FEWEST_FRAMES", 0)
    monkeypatch.setattr(partition, "FRAMES_PER_PART", 4)


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("layout", [{}, {"nested": True}, {"whole": True}, {"grain": 32}])
def test_parts_of_several_blocks_of_one_and_two_words(few_frames, parts, layout):
    blocks = [nx.cycle_graph(70), nx.petersen_graph(), nx.grid_2d_graph(4, 5), nx.complete_graph(4), nx.path_graph(3)]
    graph, _ = disjoint_union(blocks)
    check_parts(graph, parts, graph.n, **layout)


@pytest.mark.parametrize("max_length", [4, 5, 9, 16])
def test_a_maximum_length_bounds_the_frames(few_frames, max_length):
    check_parts(grid(4, 6), 3, max_length)


def test_every_part_has_its_share_of_the_cycles():
    groups = groups_of(grid(5, 7))
    made = parts_of(groups, 4, 35)
    work = [sum(len(drained(groups[0], piece, 35)) for piece in part.groups[0].frames) for part in made]
    assert sum(work) > 1000
    assert min(work) > 0.7 * max(work)


def test_the_deal_does_not_depend_on_the_weights():
    groups = groups_of(gnp(40, 0.12, 3))
    even = [np.ones(len(group.seed_entries)) for group in groups]
    for weights in (even, seed_weights(groups, 40)):
        part = split(groups, weights, 2, 3, 40, True)
        rows = [bits(row) for state in part.groups for frames in state.frames for row in frames.extensions]
        if weights is even:
            expected = rows
    assert rows == expected


def test_parts_without_members_have_the_same_frames():
    groups = groups_of(grid(5, 6))
    for with_members, without in zip(parts_of(groups, 2, 30), parts_of(groups, 2, 30, collect=False), strict=True):
        assert without.totals.cycles == with_members.totals.cycles
        assert without.found == []
        (one,), (other,) = with_members.groups[0].frames, without.groups[0].frames
        assert other.members is None
        assert (one.extensions == other.extensions).all()
        assert (one.end == other.end).all()


def test_frames_of_seeds_are_those_that_the_kernels_make():
    graph = gnp(12, 0.4, 5)
    (group,) = groups_of(graph)
    seeds = np.arange(len(group.seed_entries))
    frames = seed_frames(HostBlocks(group), seeds, True, np.ones(len(seeds)))
    rows = [set(labels(bits(row))) for row in HostBlocks(group).rows]
    expected = []
    for seed in seeds:
        u, x = int(group.seed_roots[seed]), int(group.neighbour[group.seed_entries[seed]])
        allowed = {v for v in range(group.rows) if v > u and v not in rows[u]}
        extensions = {y for y in rows[u] if y > x and y not in rows[x]}
        if extensions and rows[x] & allowed:
            expected.append((allowed, extensions, {u, x}, x, 2, 1 / len(extensions)))
    made = [
        (
            set(labels(bits(frames.allowed[i]))),
            set(labels(bits(frames.extensions[i]))),
            set(labels(bits(frames.members[i]))),
            int(frames.end[i]),
            int(frames.length[i]),
            frames.weight[i],
        )
        for i in range(len(frames))
    ]
    assert made == expected


@pytest.mark.parametrize(
    "graph",
    [grid(6, 6), gnp(24, 0.2, 1), Graph.from_networkx(nx.petersen_graph()), complete(5), grid(1, 6)],
    ids=["grid", "random", "petersen", "triangles", "tree"],
)
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.slow_on("vulkan")
def test_runs_of_the_parts_add_up(device: Device, few_frames, graph, parts):
    cycles, counts = [], Counter()
    for part in range(1, parts + 1):
        run = Run(graph, device, Options(collect=True, part=(part, parts)))
        snapshot = run.snapshot()
        found = [run.take_cycles()]
        while not run.finished:
            snapshot = run.advance()
            found.append(run.take_cycles())
        counts.update(snapshot.cycles_by_length)
        cycles += [piece.vertices[a:b].tolist() for piece in found for a, b in pairwise(piece.offsets)]
        if part > 1:
            assert 3 not in snapshot.cycles_by_length
    check_cycles(graph, cycles)
    assert counts == levels_of(graph).cycles == Counter(map(len, cycles))


@pytest.mark.parametrize("spec", ["grid:6x6", "complete:5"])
@pytest.mark.slow
def test_the_command_line_lists_disjoint_parts(spec):
    def listed(*more):
        done = chordless("list", spec, "--arch", "cpu", *more)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    parts = [listed("--part", f"{part}/2") for part in (1, 2)]
    assert sorted(parts[0] + parts[1]) == sorted(listed())
    if spec == "grid:6x6":
        assert min(map(len, parts)) > 1000
    else:
        assert len(parts[1]) == 0
