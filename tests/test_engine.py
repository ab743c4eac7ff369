"""The engine against other people's programs, cycle by cycle, on every device."""

import re
from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import by_length, check_cycles, disjoint_union, grid, levels_of, nauty, networkx_cycles

from kernels_ti import Device, Graph, OptionError, count_cycles, enumerate_cycles
from kernels_ti.reference.algorithm import canonical, chordless_cycles

EXAMPLES = {"cpu": 180, "vulkan": 18, "cuda": 120}
WORD_BOUNDARIES = [
    *(32, 33, 64, 65, 512, 513),
    *(pytest.param(n, marks=pytest.mark.slow) for n in (31, 63, 127, 128, 129, 255, 256, 257, 1025)),
]
# A software device needs up to half a minute for hundreds of levels, one launch each.
LEVELS_OF_VULKAN = 129


@pytest.fixture(scope="session")
def small_graphs() -> list[nx.Graph]:
    """All graphs with 1 to 7 vertices, up to isomorphism."""
    lines = b"".join(nauty("geng", "-q", str(n)) for n in range(1, 8)).split()
    assert len(lines) == 1252
    return [nx.from_graph6_bytes(line) for line in lines]


@pytest.mark.slow
def test_all_graphs_with_up_to_seven_vertices(arch: str, small_graphs: list[nx.Graph]) -> None:
    union, starts = disjoint_union(small_graphs)
    cycles = list(enumerate_cycles(union, arch=arch))
    check_cycles(union, cycles)
    assert sorted(cycles) == sorted(chordless_cycles(union))
    found = Counter(int(np.searchsorted(starts, cycle[0], side="right")) - 1 for cycle in cycles)
    for i, graph in enumerate(small_graphs):
        own = [c for c in nx.chordless_cycles(graph) if len(c) > 2]
        assert found[i] == len(own), f"graph {i} with edges {list(graph.edges())}"
    lines = b"".join(nauty("geng", "-q", str(n)) for n in range(1, 8))
    told = nauty("countg", "--H", stdin=lines).decode()
    by_nauty = {int(k): int(n) for n, k in re.findall(r"(\d+) graphs : induced cycles=(\d+)", told)}
    assert by_nauty == dict(Counter(found[i] for i in range(len(small_graphs))))


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    """Dense, sparse and bipartite graphs, disconnected ones, cut vertices and long chains."""
    seed = draw(st.integers(0, 10**6))
    kind = draw(st.sampled_from(["dense", "sparse", "bipartite", "joined", "chain"]))
    n = draw(st.integers(3, 18))
    if kind == "dense":
        return nx.gnp_random_graph(n, 0.6, seed=seed)
    if kind == "sparse":
        return nx.gnp_random_graph(n + 6, 0.12, seed=seed)
    if kind == "bipartite":
        return nx.convert_node_labels_to_integers(nx.bipartite.random_graph(n // 2 + 1, 6, 0.5, seed=seed))
    parts = [nx.gnp_random_graph(draw(st.integers(1, 9)), 0.5, seed=seed + k) for k in range(draw(st.integers(2, 4)))]
    joined = nx.disjoint_union_all(parts)
    if kind == "joined":
        start = 0
        for part in parts[:-1]:
            joined.add_edge(start, start + len(part))
            start += len(part)
        return joined
    cycle = nx.disjoint_union(joined, nx.cycle_graph(draw(st.integers(30, 70))))
    cycle.add_edge(0, len(joined) + 1)
    cycle.add_edge(len(joined) - 1, len(joined) + 20)
    return cycle


@pytest.fixture
def check(arch: str):
    """Check the engine on this arch with one graph, against networkx and itself under a relabelling."""

    def check_one(other: nx.Graph, seed: int) -> None:
        graph = Graph.from_networkx(nx.convert_node_labels_to_integers(other))
        cycles = list(enumerate_cycles(graph, arch=arch))
        check_cycles(graph, cycles)
        expected = sorted(canonical(cycle) for cycle in networkx_cycles(graph))
        assert sorted(cycles) == expected
        assert count_cycles(graph, arch=arch).by_length == by_length(expected)
        shuffled = np.random.default_rng(seed).permutation(graph.n)
        renamed = Graph.from_edge_array(shuffled[graph.edges()].reshape(-1, 2), n=graph.n)
        back = np.argsort(shuffled).tolist()
        again = [canonical([back[v] for v in cycle]) for cycle in enumerate_cycles(renamed, arch=arch)]
        assert sorted(again) == expected
        bound = 3 + seed % 7
        short = list(enumerate_cycles(graph, arch=arch, max_length=bound))
        assert sorted(short) == [cycle for cycle in expected if len(cycle) <= bound]
        long = count_cycles(graph, arch=arch, min_length=bound).by_length
        assert long == by_length(cycle for cycle in expected if len(cycle) >= bound)

    return check_one


@pytest.mark.slow
def test_random_graphs(check, arch: str) -> None:
    @settings(max_examples=EXAMPLES[arch], deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(graphs(), st.integers(0, 1000))
    def try_one(graph: nx.Graph, seed: int) -> None:
        check(graph, seed)

    try_one()


def check_lengths(graph: Graph, arch: str, expected: dict[int, int]) -> None:
    assert count_cycles(graph, arch=arch).by_length == expected
    cycles = list(enumerate_cycles(graph, arch=arch))
    check_cycles(graph, cycles)
    assert by_length(cycles) == expected


@pytest.mark.slow
@pytest.mark.parametrize("n", WORD_BOUNDARIES)
def test_short_cycles_around_every_word_boundary(arch: str, n: int) -> None:
    """A path in one block with a hub beside it: the hub has the last label, and is on every cycle."""
    spokes = sorted({*range(0, n - 1, 9), *range(1, n - 1, 40), n - 2})
    path = nx.path_graph(n - 1)
    path.add_edges_from((n - 1, v) for v in spokes)
    check_lengths(Graph.from_networkx(path), arch, by_length(range(v - u + 2) for u, v in pairwise(spokes)))


def check_ring(arch: str, n: int) -> None:
    """Check a ring with three chords that cut it into known cycles, its last vertices among them."""
    ring = nx.cycle_graph(n)
    ring.add_edges_from([(0, 10), (12, 20), (n - 9, n - 2)])
    around = n - 9 - 7 - 6  # each chord replaces the vertices that it skips
    check_lengths(Graph.from_networkx(ring), arch, by_length([range(11), range(9), range(8), range(around)]))


@pytest.mark.parametrize("n", WORD_BOUNDARIES)
@pytest.mark.slow_on("vulkan")
def test_around_every_word_boundary(arch: str, n: int) -> None:
    if arch == "vulkan" and n > LEVELS_OF_VULKAN:
        pytest.skip("hundreds of levels, one launch each, are slow on a software device")
    check_ring(arch, n)


@pytest.mark.slow
@pytest.mark.parametrize("arch", [pytest.param("vulkan", marks=pytest.mark.vulkan)], indirect=True)
def test_hundreds_of_levels_on_vulkan(arch: str) -> None:
    check_ring(arch, 257)


@pytest.mark.parametrize("n", [33, 65, 129, 257, 513])
@pytest.mark.slow
def test_dense_blocks_around_word_boundaries(arch: str, n: int) -> None:
    """The complement of a ring has exactly the 4-cycles on two disjoint, unlinked ring edges, and triangles."""
    graph = Graph.from_networkx(nx.complement(nx.cycle_graph(n)))
    if arch == "vulkan" and n > 129:
        pytest.skip("too many triangles for a software device")
    counts = count_cycles(graph, arch=arch)
    assert counts.by_length[4] == n * (n - 3) // 2 - n
    assert counts.triangles == n * (n - 4) * (n - 5) // 6
    assert set(counts.by_length) == {3, 4}


@pytest.mark.slow
def test_five_thousand_vertices_in_one_block(arch: str) -> None:
    """A grid of 50 x 100: its cycles of up to 8 vertices are its faces and what is around two or three... of them."""
    graph = grid(50, 100)
    counts = count_cycles(graph, arch=arch, max_length=8)
    faces = 49 * 99
    assert counts.by_length == {4: faces, 8: 48 * 98}, "the square around each inner vertex has eight vertices"


@pytest.mark.slow
@pytest.mark.parametrize("length", [40, 100, 600])
def test_ladders_have_one_cycle_to_a_rung_gap(arch: str, length: int) -> None:
    if arch == "vulkan" and length > 100:
        pytest.skip("hundreds of levels, one launch each, are slow on a software device")
    assert count_cycles(grid(2, length), arch=arch).total == length - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "cycles"), [(20, 209), (30, 464), pytest.param(340, 57_969, marks=pytest.mark.slow)]
)
def test_thin_grids(arch: str, columns: int, cycles: int) -> None:
    if arch == "vulkan" and columns > 30:
        pytest.skip("hundreds of levels, one launch each, are slow on a software device")
    assert count_cycles(grid(3, columns), arch=arch).total == cycles


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_smallest_graphs(arch: str, n: int) -> None:
    graph = Graph.from_networkx(nx.complete_graph(n))
    assert count_cycles(graph, arch=arch).total == (1 if n == 3 else 0)
    assert list(enumerate_cycles(graph, arch=arch)) == ([[0, 1, 2]] if n == 3 else [])


@pytest.mark.slow
@pytest.mark.parametrize("ring", [8, 32, 256])
@pytest.mark.slow_on("vulkan")
def test_a_ring_in_the_midst_of_many_neighbours(arch: str, ring: int) -> None:
    """Each vertex of the ring has hundreds of neighbours outside it, which the walk along it must pass by."""
    if arch == "vulkan" and ring > LEVELS_OF_VULKAN:
        pytest.skip("hundreds of levels, one launch each, are slow on a software device")
    graph = Graph.from_networkx(nx.complete_multipartite_graph(*[1] * 256))
    edges = [(v, (v + 1) % ring) for v in range(ring)]
    edges += [(v, ring + u) for v in range(ring) for u in range(256)]
    edges += [(ring + u, ring + v) for u, v in graph.edges().tolist()]
    whole = Graph.from_edges(ring + 256, edges)
    cycles = [cycle for cycle in enumerate_cycles(whole, arch=arch, min_length=5) if len(cycle) > 4]
    assert cycles == [list(range(ring))]


def test_names_and_input_types(arch: str) -> None:
    named = nx.relabel_nodes(nx.cycle_graph(4), dict(enumerate("dcba")))
    assert list(enumerate_cycles(named, arch=arch)) == [["d", "c", "b", "a"]]
    sparse = pytest.importorskip("scipy.sparse")
    assert count_cycles(sparse.csr_array(nx.to_numpy_array(named)), arch=arch).by_length == {4: 1}


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "seed"), [(12, 0.3, 1), (16, 0.25, 2), (20, 0.15, 3)])
def test_the_paper_s_expansion_has_the_reference_s_frontier(arch: str, n: int, p: float, seed: int) -> None:
    graph = Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))
    counts = count_cycles(graph, arch=arch, expansion="paper")
    levels = levels_of(graph)
    assert counts.frontier == dict(sorted(levels.paths.items()))
    assert counts.by_length == dict(sorted(levels.cycles.items()))


def test_options_are_checked(device: Device) -> None:
    for wrong in ({"min_length": 0}, {"max_length": 0}, {"min_length": 6, "max_length": 5}, {"expansion": "none"}):
        with pytest.raises(OptionError):
            count_cycles(grid(2, 2), arch=device.arch, **wrong)
