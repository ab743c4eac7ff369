"""What a vertex changes in states: the kernels put it together as numpy does."""

import numpy as np
import pytest
from chordless import generate

from kernels_ti import Graph, open_device
from kernels_ti.boundary.orders.plan import plan_of
from kernels_ti.boundary.orders.walk import steps_of
from kernels_ti.boundary.spec.changes import ChangesOfSteps, children_of, coded
from kernels_ti.boundary.spec.packing import Packing
from kernels_ti.taichi_door import ti

STATES = 3000


def changing_kernel(packing):
    from kernels_ti.boundary.kernels.tables import array, child_function

    words = packing.words
    children = child_function(words, packing.bits)
    vector = ti.types.vector(words, ti.u64)

    @ti.kernel
    def change(
        states: array(ti.u64, 1), spec: array(ti.u64, 1), base: ti.i32, off: array(ti.u64, 1), on: array(ti.u64, 1),
        flags: array(ti.i32, 1),
    ):  # fmt: skip
        for i in range(STATES):
            state = vector(0)
            for w in ti.static(range(words)):
                state[w] = states[i * words + w]
            stays, joins, flag = children(state, spec, base)
            flags[i] = flag
            for w in ti.static(range(words)):
                off[i * words + w] = stays[w]
                on[i * words + w] = joins[w]

    return change


def directed(spec):
    graph = generate(spec)
    edges = [(u, v) if u * v % 7 < 3 else (v, u) for u, v in graph.edges().tolist()]
    return Graph.from_edges(graph.n, edges, directed=True)


@pytest.mark.slow
@pytest.mark.parametrize("table_bits", [0, 12], ids=["put together", "looked up"])
@pytest.mark.parametrize(
    ("graph", "spread", "through"),
    [
        (generate("king:4x6"), 1, [7]),
        (generate("grid:4x8"), 7, []),
        (directed("king:5x6"), 1, [3]),
        (directed("king:5x6"), 7, []),
        (generate("complete:9"), 1, []),
    ],
    ids=["king", "two words", "directed", "directed, two words", "complete"],
)
def test_kernels_and_numpy_change_random_states_alike(graph, spread, through, table_bits, monkeypatch):
    plan = plan_of(graph, order=[spread * v % graph.n for v in range(graph.n)])
    block, order = max(zip(plan.blocks, plan.orders, strict=True), key=lambda pair: pair[1].width)
    steps = tuple(steps_of(block, order, frozenset(through)))
    packing = Packing.of(steps)
    assert (packing.words > 1) == (spread > 1)
    changes = ChangesOfSteps(steps, packing)
    monkeypatch.setattr("kernels_ti.boundary.spec.changes._TABLE_BITS", table_bits)
    device, random = open_device("cpu"), np.random.default_rng(1)
    cells, bases = coded([changes[place] for place in range(len(steps))], packing)
    spec = device.call(device.buffer, cells)
    change = device.call(changing_kernel, packing)
    seen = set()
    for place in range(len(steps)):
        words = np.zeros((packing.words, STATES), np.uint64)
        for slot in range(packing.slots):
            word, shift = packing.place(slot)
            kinds = random.integers(0, packing.kinds, STATES, dtype=np.uint64)
            is_empty = random.random(STATES) < 0.6
            # The slot of a vertex that comes is free, unless a neighbour hands it over.
            is_free = slot == steps[place].slot and slot not in steps[place].near
            words[word] |= np.where(is_empty | is_free, np.uint64(0), kinds) << shift
        states = np.ascontiguousarray(words.T).reshape(-1)
        off, on = np.zeros_like(states), np.zeros_like(states)
        flags = np.zeros(STATES, np.int32)
        device.call(change, states, spec, int(bases[place]), off, on, flags)
        children = children_of(words, changes[place], packing)
        assert np.array_equal(np.flatnonzero(flags & 1), children.off_parents)
        assert np.array_equal(np.flatnonzero(flags & 2), children.on_parents)
        assert np.array_equal(np.flatnonzero(flags & 4), children.closing)
        assert np.array_equal(off.reshape(STATES, -1)[children.off_parents].T, children.off_words)
        assert np.array_equal(on.reshape(STATES, -1)[children.on_parents].T, children.on_words)
        seen |= set(flags.tolist())
    assert seen >= {0, 1, 2, 3}
