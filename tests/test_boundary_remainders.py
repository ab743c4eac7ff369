"""A count of all cycles together in remainders: a bound and primes, in one pass or in several."""

from __future__ import annotations

import json
import math

import pytest
from chordless import generate
from chordless.runs.saved import packed, unpacked
from directed_graphs import KINDS, by_reference, random_graph
from hypothesis import given, settings
from oracles import small_graphs
from test_boundary_passes import DoesNotFit, beads_of, begun

from kernels_ti import Graph, Options, SizeError, open_device
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary import count as boundary
from kernels_ti.boundary.count import BoundaryCount
from kernels_ti.boundary.executors import remainders
from kernels_ti.boundary.executors.on_cores import CoresBlock
from kernels_ti.boundary.executors.remainders import TotalModulo
from kernels_ti.boundary.needs import Sizes
from kernels_ti.boundary.values.saved import SavedCount
from kernels_ti.reference.algorithm import chordless_cycles

FEW = settings(max_examples=30, deadline=None)


@pytest.fixture(autouse=True)
def _every_block_in_remainders(monkeypatch):
    monkeypatch.setattr(boundary, "_FEWEST_STATES", 0)
    monkeypatch.setattr(boundary, "CoresBlock", DoesNotFit)


@pytest.fixture
def of_48_bits(monkeypatch):
    """Let numbers have the fewest bits, so that a bound above 2^48 is rounded."""
    monkeypatch.setattr(remainders, "number_bits", lambda block: 48)


def count_of(graph, *, arch="cpu", memory=None, saved=None, **options):
    count = BoundaryCount(SearchSpace(graph, Options(**options)), by_length=False, saved=saved)
    count.use(open_device(arch), memory)
    return count


def total_of(graph, **options):
    """Return the count, the triangles, and the passes that were under way."""
    count, shares, passes = count_of(graph, **options), [], set()
    while not count.finished:
        count.advance(0.0)
        shares.append(count.share)
        passes.add(count.passes)
    assert shares == sorted(shares)
    assert count.share == 1
    return count.cycles_by_length.get(0, 0), count.triangles, passes - {None}


def test_totals_are_those_of_the_reference():
    @FEW
    @given(small_graphs())
    def check(graph):
        cycles = list(chordless_cycles(graph))
        assert total_of(graph)[:2] == (len(cycles), sum(len(cycle) == 3 for cycle in cycles))

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_totals_of_directed_graphs_and_multigraphs_are_those_of_the_reference(kind):
    for seed in range(15):
        graph = Graph.from_networkx(random_graph(kind, seed, 9, 0.25))
        assert total_of(graph, min_length=3 if graph.is_simple else 1)[0] == len(by_reference(graph))


# Of one word, of two, and with wider symbols; a bound that is never rounded is the count.
@pytest.mark.parametrize("spec", ["grid:6x9", "ladder:60", "gnp:70,0.03,4", "king:5x6"])
def test_totals_are_those_of_python(spec):
    graph = generate(spec)
    count = BoundaryCount(SearchSpace(graph, Options()), by_length=False)
    count.advance(math.inf)
    assert total_of(graph) == (count.cycles_by_length[0], count.triangles, {(1, 0)})


@pytest.mark.usefixtures("of_48_bits")
@pytest.mark.parametrize(("numbers", "passes"), [(5, {(1, 0)}), (2, {(1, 0), (2, 2)}), (1, {(1, 0), (2, 3), (3, 3)})])
def test_a_large_total_comes_from_remainders(numbers, passes, monkeypatch):
    monkeypatch.setattr(Sizes, "numbers_in_a_pass", lambda self, memory: numbers)
    assert total_of(beads_of(60)) == (2**60 + 60, 0, passes)


@pytest.mark.usefixtures("of_48_bits")
def test_fewer_numbers_are_carried_where_they_do_not_fit(monkeypatch):
    take_vertex = TotalModulo.take_vertex

    def take_one_number(self, enough):
        if len(self.found) > 1:
            raise SizeError("it does not fit")
        take_vertex(self, enough)

    monkeypatch.setattr(TotalModulo, "take_vertex", take_one_number)
    total, _triangles, passes = total_of(beads_of(60))
    assert (total, max(passes)) == (2**60 + 60, (3, 3))


@pytest.mark.usefixtures("of_48_bits")
def test_a_count_goes_on_after_each_pass(monkeypatch):
    monkeypatch.setattr(Sizes, "numbers_in_a_pass", lambda self, memory: 1)
    graph, saved, known = beads_of(60), None, []
    for _ in range(3):
        count = count_of(graph, saved=saved)
        count.advance(0.0)
        under_way = count.passes
        while not count.finished and count.passes == under_way:
            count.advance(0.0)
        arrays = {}
        header = json.loads(json.dumps(packed(count.saved(), arrays, "boundary")))
        saved = unpacked(SavedCount, header, arrays.__getitem__)
        known.append(None if saved.block is None else len(saved.block.passes.values))
    assert (known, count.finished, count.cycles_by_length) == ([0, 1, None], True, {0: 2**60 + 60})


def test_states_are_dropped_once_the_largest_table_is_full(monkeypatch):
    graph = generate("grid:7x9")
    whole, _, _ = total_of(graph)
    dropped = []
    dropping = TotalModulo._dropping

    def noted(self, completion):
        before = self.states
        yield from dropping(self, completion)
        dropped.append(before - self.states)

    monkeypatch.setattr(TotalModulo, "_dropping", noted)
    monkeypatch.setattr(remainders, "MOST_CELLS", 400)
    monkeypatch.setattr(TotalModulo, "_is_short", lambda self, shape: False)
    assert total_of(graph)[0] == whole
    assert sum(dropped) > 0


@pytest.mark.parametrize("fits", [True, False])
def test_by_length_the_first_pass_tells_whether_exact_numbers_may_fit(fits, monkeypatch):
    graph = generate("grid:6x7")
    monkeypatch.setattr(BoundaryCount, "_is_doubtful", lambda self, device, block: True)
    monkeypatch.setattr(boundary, "fits_in_one_pass", lambda *known: fits)
    monkeypatch.setattr(boundary, "CoresBlock", CoresBlock)
    count = begun(graph, memory=1 << 40)
    passes = set()
    while not count.finished:
        count.advance(0.0)
        passes.add(count.passes)
    in_python = BoundaryCount(SearchSpace(graph, Options()))
    in_python.advance(math.inf)
    assert count.cycles_by_length == in_python.cycles_by_length
    assert ((2, 2) in passes) != fits


def test_exact_numbers_after_a_first_pass_go_on_where_they_were(monkeypatch):
    graph = generate("grid:6x7")
    monkeypatch.setattr(BoundaryCount, "_is_doubtful", lambda self, device, block: True)
    monkeypatch.setattr(boundary, "fits_in_one_pass", lambda *known: True)
    monkeypatch.setattr(boundary, "CoresBlock", boundary.block_on_device)
    count = begun(graph, memory=1 << 40)
    count.advance(0.0)
    while count.passes is not None:
        count.advance(0.0)
    # The first pass has met the states of all steps; the exact numbers have just begun.
    assert count.share < 0.5
    while (saved := count.saved()).block.place < 20:
        count.advance(0.0)
    again = begun(graph, memory=1 << 40, saved=saved)
    again.advance(0.0)
    assert again.passes is None
    assert again.saved().block.place > saved.block.place
    for each in (count, again):
        each.advance(math.inf)
    assert again.cycles_by_length == count.cycles_by_length


def test_a_graph_whose_states_are_too_wide_has_no_remainders(monkeypatch):
    monkeypatch.setattr(remainders, "MOST_WORDS", 0)
    count = count_of(generate("grid:6x7"))
    with pytest.raises(SizeError, match="it does not fit"):
        count.advance(math.inf)
