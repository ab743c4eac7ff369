"""One step on random paths: the device's functions and the step in numpy on the host say the same."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from laid_out import block_batches

from kernels_ti import Device, Graph
from kernels_ti.bits import LARGEST_UNROLLED, row_of, size_of, vector_of
from kernels_ti.blocks.groups import BlockGroup
from kernels_ti.estimate.host_step import HostBlocks
from kernels_ti.state import Frames, Layout, Rows, narrow_words, singles, wide_words
from kernels_ti.step.certificate import reachable_extensions
from kernels_ti.step.certificate_wide import reachable_extensions_wide
from kernels_ti.step.choice_of_end import choice_of_end, choice_of_end_wide, parted
from kernels_ti.step.required import completing
from kernels_ti.taichi_door import ti

pytestmark = pytest.mark.owner

PATHS = 300
LENGTH = 5
"""Vertices of each path before the step's vertex joins it."""

array = ti.types.ndarray


@ti.kernel
def step_in_registers(
    words: ti.template(),
    required: ti.template(),
    paths: ti.i32,
    longer: ti.i32,
    rounds: ti.i32,
    rows: array(ndim=1),
    ends: array(ti.i32, 1),
    allowed: array(ndim=1),
    members: array(ndim=1),
    closers: array(ndim=1),
    extensions: array(ndim=1),
    waiting_end: array(ti.i32, 1),
):
    """Make the step of `kernels_ti.sweep.depth_first` for path k, whose ends are ``ends[2 * k]`` and the next."""
    for k in range(paths):
        last, other = ends[2 * k], ends[2 * k + 1]
        free, path = row_of(words, allowed, k), row_of(words, members, k)
        near_last, near_other = row_of(words, rows, last) & free, row_of(words, rows, other) & free
        closing, only_last, only_other, _, opened, swapped = choice_of_end(words, 1, longer, near_last, near_other)
        if ti.static(required):
            ending = completing(words, rows, path, closing)
            closing = ending
        growing, waiting, candidates = near_last, only_other, only_last
        if swapped == 1:
            growing, waiting, candidates = near_other, only_last, only_other
            other = last
        if opened > 0:
            may_join = free & ~growing
            candidates = reachable_extensions(words, required, rows, 0, path, may_join, waiting, candidates, rounds)
        else:
            candidates = words(0)
        for w in ti.static(range(words.n)):
            closers[k * words.n + w] = closing[w]
            extensions[k * words.n + w] = candidates[w]
        waiting_end[k] = other if size_of(words, candidates) > 0 else -1


@ti.kernel
def step_in_memory(
    bits: ti.template(),
    words: ti.i32,
    required: ti.template(),
    paths: ti.i32,
    longer: ti.i32,
    rounds: ti.i32,
    rows: array(ndim=1),
    row_ptr: array(ti.i32, 1),
    neighbour: array(ti.i32, 1),
    ends: array(ti.i32, 1),
    allowed: array(ndim=1),
    members: array(ndim=1),
    sets: array(ndim=1),
    fifo: array(ti.i32, 1),
    closers: array(ndim=1),
    extensions: array(ndim=1),
    waiting_end: array(ti.i32, 1),
):
    """Do the same with bit rows in memory; five sets of `sets` belong to each path, side by side."""
    for k in range(paths):
        last, other = ends[2 * k], ends[2 * k + 1]
        at = k * words
        _, opened, swapped = choice_of_end_wide(
            bits, words, 1, longer, rows, last, rows, other * words, allowed, 1, at, False, 0
        )
        growing, waits = last, other
        if swapped == 1:
            growing, waits = other, last
        for w in range(words):
            near = rows[growing * words + w] & allowed[at + w]
            both, candidates, waiting = parted(near, rows[waits * words + w] & allowed[at + w])
            closers[at + w] = both
            extensions[at + w] = both & ~both
            sets[w * paths + k] = allowed[at + w] & ~near
            sets[(words + w) * paths + k] = waiting
            sets[(2 * words + w) * paths + k] = candidates
        if opened > 0:
            opened = reachable_extensions_wide(
                bits, words, required, rows, row_ptr, neighbour, 0,
                sets, paths, k, words * paths + k, 2 * words * paths + k, 3 * words * paths + k, 4 * words * paths + k,
                members, 1, at, fifo, paths, k, rounds,
            )  # fmt: skip
            for w in range(words):
                extensions[at + w] = sets[(3 * words + w) * paths + k]
        waiting_end[k] = waits if opened > 0 else -1


def ring_with_chords(words: int, word_bits: int, draw: np.random.Generator) -> BlockGroup:
    """A block of `words` words: a ring, which makes it biconnected, and as many chords as the ring has edges."""
    n = words * word_bits - int(draw.integers(word_bits // 2))
    graph = nx.cycle_graph(n)
    graph.add_edges_from(edge for edge in draw.integers(n, size=(n, 2)).tolist() if edge[0] != edge[1])
    [group] = block_batches(Graph.from_networkx(graph), Layout(whole=True), word_bits)[0]
    assert group.words - words in (0, 1)  # of 32 bits there is an even number
    return group


def random_paths(group: BlockGroup, draw: np.random.Generator) -> Frames:
    """Records of no search: any vertices may join, and any vertex is an end."""
    words = -(-group.rows // 64)
    density = draw.uniform(0.3, 1.0, (PATHS, 1))
    ends = np.array([draw.choice(group.rows, 2, replace=False) for _ in range(PATHS)])
    end, last = ends[:, 0], ends[:, 1]

    def packed(bits: np.ndarray) -> Rows:
        whole = np.zeros((PATHS, 64 * words), np.uint8)
        whole[:, : group.rows] = bits
        return np.packbits(whole, axis=1, bitorder="little").view(np.uint64)

    taken = singles(end, words) | singles(last, words)
    allowed = packed(draw.random((PATHS, group.rows)) < density) & ~taken
    members = packed(draw.random((PATHS, group.rows)) < 0.3) & ~allowed & ~singles(last, words)
    length = np.full(PATHS, LENGTH, np.int32)
    return Frames(allowed, singles(last, words), members, end.astype(np.int32), length, np.ones(PATHS))


def of_device(group: BlockGroup, device: Device, paths: Frames, longest: int) -> tuple[Rows, Rows, np.ndarray]:
    """Closers and kept extensions of each path, and the end that waits, or -1 where no extension is kept."""
    bits, words, required = group.word_bits, group.words, group.required is not None
    word = np.uint64 if bits == 64 else np.uint32
    host = HostBlocks(group)
    ends = np.stack([host.label(paths), paths.end], axis=1).astype(np.int32).reshape(-1)
    rows = group.bit_rows().reshape(-1)
    rows = np.concatenate((rows, group.required)) if required else rows
    rows, ends, allowed, members = (
        device.buffer(values)
        for values in (
            rows,
            ends,
            narrow_words(paths.allowed, words, bits).reshape(-1),
            narrow_words(paths.members | paths.extensions, words, bits).reshape(-1),
        )
    )
    closers, extensions = (device.buffer(np.zeros(PATHS * words, word)) for _ in range(2))
    waiting_end = device.buffer(np.zeros(PATHS, np.int32))
    given = {
        "required": required,
        "paths": PATHS,
        "longer": int(longest >= LENGTH + 3),
        "rounds": longest - LENGTH - 2,
        "rows": rows,
        "ends": ends,
        "allowed": allowed,
        "members": members,
        "closers": closers,
        "extensions": extensions,
        "waiting_end": waiting_end,
    }
    if words <= LARGEST_UNROLLED:
        step_in_registers(vector_of(words, bits), **given)
    else:
        sets, fifo = device.empty(5 * words * PATHS, word), device.empty(group.rows * PATHS, np.int32)
        csr = {"row_ptr": device.buffer(group.row_ptr), "neighbour": device.buffer(group.neighbour)}
        step_in_memory(bits, words, **csr, sets=sets, fifo=fifo, **given)
    found = (device.download(buffer).reshape(PATHS, words) for buffer in (closers, extensions))
    return *map(wide_words, found), device.download(waiting_end)


@pytest.mark.parametrize("longest", [LENGTH + 2, LENGTH + 3, LENGTH + 10, 10**6])
@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("words", [*range(1, LARGEST_UNROLLED + 1), LARGEST_UNROLLED + 1, 13])
def test_the_host_makes_the_step_of_the_device(words: int, required: bool, longest: int, device: Device) -> None:
    draw = np.random.default_rng(words)
    group = ring_with_chords(words, device.word_bits, draw)
    paths = random_paths(group, draw)
    if required:  # two vertices, which lie on some of the paths
        both = np.bitwise_or.reduce(singles(np.array([3, 17]), paths.allowed.shape[1]), keepdims=True)
        group = replace(group, required=narrow_words(both, group.words, device.word_bits)[0])
    closers, extensions, waiting_end = of_device(group, device, paths, longest)
    host = HostBlocks(group).expand(paths, longest)
    if not required or words <= LARGEST_UNROLLED:
        assert (closers == host.closers).all()
    assert (np.flatnonzero(waiting_end >= 0) == host.parent).all()
    assert (extensions[host.parent] == host.children.extensions).all()
    assert (waiting_end[host.parent] == host.children.end).all()
    assert longest < 10**6 or len(host.parent) > (0 if required else PATHS // 20)
