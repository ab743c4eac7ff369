"""A count along an order of the vertices with small boundaries, block by block; see `kernels_ti.boundary`.

The time depends on the boundary, about 2.7 to the power of its vertices, and hardly on the number of cycles.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.boundary.executors.in_passes import MOST_VERTICES, BlockInPasses
from kernels_ti.boundary.executors.in_python import PythonBlock
from kernels_ti.boundary.executors.on_cores import CoresBlock
from kernels_ti.boundary.executors.on_device import DeviceBlock, block_on_device
from kernels_ti.boundary.executors.remainders import TotalInPasses, may_have_remainders
from kernels_ti.boundary.needs import Sizes, fits_in_one_pass, needs_of
from kernels_ti.boundary.orders.order import BoundaryOrder
from kernels_ti.boundary.orders.plan import BoundaryPlan, likely_states, plan_of, share_done
from kernels_ti.boundary.spec.block import GivenUp, OrderedBlock, ordered_blocks
from kernels_ti.boundary.spec.packing import Packing
from kernels_ti.boundary.values.saved import SavedCount, SavedPasses
from kernels_ti.device.device import Device, held_device, is_open, left_beside_kernels
from kernels_ti.device.machine import cores
from kernels_ti.device.memory import KERNELS
from kernels_ti.errors import CheckpointError, OptionError, SizeError, bytes_text, parameter
from kernels_ti.graph import Graph
from kernels_ti.short_cycles import short_cycles

# Blocks of fewer states are counted in Python before Taichi has started and compiled the kernels. By length, Python
# takes so many times as long for a state; and so many times fewer states are worth kernels that need no start.
_FEWEST_STATES, _TIMES_BY_LENGTH = 5e6, 3
# The kernels that find the longest cycle are no faster than Python on two threads.
_FEWEST_CORES = 4


def arch_of_count(plan: BoundaryPlan, arch: str, *, by_length: bool) -> str:
    """Return the arch that a count needs: ``reference`` where no block is worth the start of Taichi.

    Among ``cpu`` and ``cuda``, ``auto`` means the CPU. An OptionError says that the kernels do not run on the arch.
    """
    if arch == "vulkan":
        raise OptionError(
            "the boundary method needs 64-bit atomics, which Taichi does not have on Vulkan: choose cpu or cuda"
        )
    blocks = zip(plan.blocks, plan.orders, strict=True)
    if arch == "reference" or not any(
        order and is_for_kernels(block, order, by_length=by_length) for block, order in blocks
    ):
        return "reference"
    return "cuda" if arch == "cuda" else "cpu"


def arch_of_longest(plan: BoundaryPlan, arch: str, *, threads: int | None = None) -> str:
    """Return the arch that a search for the longest cycle needs: as `arch_of_count`, but Python where cores are few.

    `threads` are the workers of the CPU, where somebody asks for a number of them.
    """
    found = arch_of_count(plan, arch, by_length=False)
    few = threads is None and cores() < _FEWEST_CORES
    return "reference" if (arch, found) == ("auto", "cpu") and few else found


def is_for_kernels(block: Graph, order: BoundaryOrder, *, by_length: bool = False) -> bool:
    """Say whether a block is worth kernels, and its boundary narrow enough."""
    fewest = _FEWEST_STATES / (_TIMES_BY_LENGTH if by_length or is_open() else 1)
    return Packing(order.width, 2 if block.directed else 1).fits_kernels and order.cost >= fewest


def block_in_kernels(
    device: Device, block: OrderedBlock, longest: int | None, memory: int | None
) -> CoresBlock | DeviceBlock:
    """Begin the count of a block in the kernels for a device; see `block_on_device` for the parameters."""
    return (CoresBlock if device.arch == "cpu" else block_on_device)(device, block, longest, memory)


_Counting = PythonBlock | CoresBlock | DeviceBlock | BlockInPasses


class BoundaryCount:
    """The count of all chordless cycles of a graph, vertex by vertex.

    Without `by_length` all cycles are counted together, in far less memory and time, and an OptionError refuses bounds
    on the length and a parity. `states_by_step` says how many states there were when each of the vertices came, block
    after block; `likely_states` about how many there will be.
    """

    def __init__(
        self,
        graph: Graph | SearchSpace,
        *,
        by_length: bool = True,
        memory: int | None = None,
        plan: BoundaryPlan | None = None,
        saved: SavedCount | None = None,
    ) -> None:
        space = SearchSpace.of(graph)
        self._lengths = space.options.lengths
        if not by_length and (self._lengths.exclude_some_found or self._lengths.longest is not None):
            raise OptionError("a parity and bounds on the length need counts by length")
        self.plan = plan or plan_of(space, orders=None if saved is None else saved.orders)
        self.plan.require_possible()
        self._device: Device | None = None
        self._longest = space.longest if by_length else None
        self._memory = memory
        # What a count in Python may take once it has started kernels on the CPU, which it does when it needs them.
        self._beside_kernels = None if memory is None else left_beside_kernels(memory)
        self._blocks = ordered_blocks(self.plan)
        self._block: _Counting | None = None
        self.seconds = 0.0
        # The first of several passes over the block, and whether exact numbers may fit all the same.
        self._first_pass: SavedPasses | None = None
        self._may_fit = False
        if saved is None:
            counts = Counter(self.plan.cycles_by_length)
            counts.update(map(len, short_cycles(space.graph, space.options)))
            saved = SavedCount((), 0, None, counts, counts[3], 0.0, 0, ())
        elif not self._holds(saved):
            raise CheckpointError("the count that was kept does not fit the blocks of the graph")
        self._blocks_done, self._saved_block = saved.blocks_done, saved.block
        self._counts, self._triangles = Counter(saved.cycles), saved.triangles
        self.most_states, self.states_by_step = saved.most_states, list(saved.states_by_step)
        self.likely_states = likely_states(self.plan)
        self._share = self._share_before_passes = 0.0
        if saved.block is not None and saved.block.passes is not None:
            self._share = min(saved.work / max(self.plan.cost, 1.0), 1.0)
        else:
            self._note_share()

    def _holds(self, saved: SavedCount) -> bool:
        """Say whether the block that was being counted is one of the graph, and its states lie in as many words."""
        if saved.block is None:
            return 0 <= saved.blocks_done <= len(self._blocks)
        if not 0 <= saved.blocks_done < len(self._blocks):
            return False
        block, most = self._blocks[saved.blocks_done], self._longest
        words, _ = saved.block.states.words.shape
        lengths = saved.block.states.counts.shape[2]
        return (
            0 <= saved.block.place <= block.graph.n
            and words == block.packing.words
            and 1 <= lengths <= (1 if most is None else block.graph.n + 1)
        )

    def use(self, device: Device, memory: int | None) -> None:
        """Count large blocks on a device of the arch of `arch_of_count`, from the next block on."""
        self._device, self._memory, self._beside_kernels = device, memory, memory

    @property
    def finished(self) -> bool:
        """Whether all vertices have come."""
        return self._blocks_done == len(self._blocks)

    @property
    def begins_in_kernels(self) -> bool:
        """Whether a block begins with the next vertex in kernels, which may have to be compiled or loaded for it."""
        if self._device is None or self._block is not None or self.finished:
            return False
        block = self._blocks[self._blocks_done]
        return is_for_kernels(block.graph, block.order, by_length=self._longest is not None)

    @property
    def share(self) -> float:
        """Expected part of the work that is done, 0 to 1."""
        return 1.0 if self.finished else self._share

    @property
    def passes(self) -> tuple[int, int] | None:
        """The number of the pass over a block, from 1, and that of all, 0 if not known yet; None in a single pass.

        Several are made where its states do not fit with a number for each length.
        """
        return self._block.passes if isinstance(self._block, BlockInPasses) else None

    @property
    def states(self) -> int:
        """States that are held now."""
        if self._block is None:
            return 0 if self._saved_block is None else self._saved_block.states.words.shape[1]
        return self._block.states

    @property
    def triangles(self) -> int:
        """Triangles of the vertices that came; told from the other cycles also with `by_length` off."""
        block = self._block or self._saved_block
        return self._triangles + (0 if block is None else block.triangles)

    @property
    def cycles_by_length(self) -> dict[int, int]:
        """Cycles of the vertices that came, by length; with `by_length` off all of them have length 0."""
        counts = Counter(self._counts)
        if (block := self._block or self._saved_block) is not None:
            counts.update(block.cycles)
        if self._longest is None:
            return {0: total} if (total := counts.total()) else {}
        return {length: count for length, count in sorted(counts.items()) if length in self._lengths}

    def advance(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Continue for about `seconds` seconds, by at least one vertex; with a large boundary that can take longer.

        Once `enough` says so, the vertex that comes is given up; the count can go on from there. A SizeError says that
        the states do not fit into the memory.
        """
        began = time.perf_counter()
        done = self.finished
        while not done:
            if self._block is None:
                self._block = self._begun(self._blocks[self._blocks_done])
            step = self._vertices_before + self._block.place
            try:
                self._take_vertex(enough)
            except GivenUp:
                break
            states = self._block.states_met
            # A block that begins anew in several passes meets the same states again.
            self.states_by_step += states[len(self.states_by_step) - step :]
            self.most_states = max(self.most_states, *states, self._block.states)
            self._note_share()
            if self._block.finished:
                self._counts.update(self._block.cycles)
                self._triangles += self._block.triangles
                self._block, self._first_pass = None, None
                self._blocks_done += 1
            done = self.finished or time.perf_counter() - began >= seconds
        self.seconds += time.perf_counter() - began

    def saved(self) -> SavedCount:
        """Return the count as it is between two vertices, apart from any device."""
        block = self._saved_block if self._block is None else self._block.saved()
        return SavedCount(
            orders=tuple(order.vertices for order in self.plan.orders if order is not None),
            blocks_done=self._blocks_done,
            block=block,
            cycles=dict(self._counts),
            triangles=self._triangles,
            work=self.share * self.plan.cost,
            most_states=self.most_states,
            states_by_step=tuple(self.states_by_step),
        )

    @property
    def _vertices_before(self) -> int:
        return sum(block.graph.n for block in self._blocks[: self._blocks_done])

    def _note_share(self) -> None:
        """Note the share that is done. It never falls, also where an expectation proves too small."""
        if isinstance(self._block, BlockInPasses):
            # All passes meet the same states, which are noted once.
            end = sum(each.order.cost for each in self._blocks[: self._blocks_done + 1]) / max(self.plan.cost, 1.0)
            before = self._share_before_passes
            share = before + max(end - before, 0.0) * self._block.share
        else:
            # Passes that were made before have met the states of all steps.
            taken = len(self.states_by_step) if self._block is None else self._vertices_before + self._block.place
            share = share_done(self.likely_states, self.states_by_step[:taken])
        self._share = max(self._share, min(share, 1.0))

    def _begun(self, block: OrderedBlock) -> _Counting:
        """Begin a block where it is counted: small ones, and those too wide for the kernels, in Python."""
        device, saved = self._device, self._saved_block
        begun: _Counting
        if saved is not None and saved.passes is not None:
            begun = self._in_passes(block, saved.passes)
        elif device is None or not self.begins_in_kernels:
            # Taichi runs on one arch at a time: the kernel that drops states must not end those of a GPU.
            drops = device is None or device.arch == "cpu"
            begun = PythonBlock(block, self._longest, self._memory, drops=drops)
        elif (saved is None or saved.place == 0) and self._is_doubtful(device, block):
            begun, self._may_fit = self._in_passes(block), self._longest is not None
        else:
            begun = block_in_kernels(device, block, self._longest, self._memory)
        if saved is not None and not isinstance(begun, BlockInPasses):
            begun.resume(saved)
        self._saved_block = None
        return begun

    def _is_doubtful(self, device: Device, block: OrderedBlock) -> bool:
        """Say whether exact numbers of a block's states hardly fit, so that the first of several passes is made first.

        By length it tells whether they do. All cycles together have a number for each pass, and begin no other way.
        """
        if device.arch != "cuda" or not self._may_have_passes(block):
            return False
        plan = self._plan_of(block)
        if self._longest is None:
            return Sizes(plan).are_beyond_one_table(self._memory)
        return self._memory is not None and needs_of(plan, "cuda", self._memory, longest=self._longest).passes > 1

    def _plan_of(self, block: OrderedBlock) -> BoundaryPlan:
        return replace(self.plan, blocks=(block.graph,), orders=(block.order,))

    def _may_have_passes(self, block: OrderedBlock) -> bool:
        if not block.packing.fits_kernels or self._beside_kernels == 0:
            return False
        return may_have_remainders(block) if self._longest is None else block.graph.n <= MOST_VERTICES

    def _take_vertex(self, enough: Callable[[], bool]) -> None:
        """Let a vertex come; where that does not fit, begin the block anew in several passes."""
        assert self._block is not None
        block, in_passes = self._blocks[self._blocks_done], isinstance(self._block, BlockInPasses)
        try:
            with self._kernels() if in_passes else nullcontext():
                self._block.take_vertex(enough)
        except SizeError:
            if in_passes or not self._may_have_passes(block):
                raise
        else:
            if self._may_fit and isinstance(self._block, BlockInPasses) and self._block.known is not None:
                self._try_one_pass(block, self._block.known)
            return
        finally:
            if self._beside_kernels and is_open("cpu"):
                self._memory = self._beside_kernels
        # The tables are given back first.
        self._block = None
        self._block = self._in_passes(block, self._first_pass)

    def _try_one_pass(self, block: OrderedBlock, known: SavedPasses) -> None:
        """Go on by length with exact numbers if the states of the first pass say that these may fit."""
        assert self._device is not None
        assert self._memory is not None
        assert self._longest is not None
        self._may_fit = False
        fits = fits_in_one_pass(self._plan_of(block), self._device.arch, self._memory, self._longest, known.most_states)
        if fits and self._block is not None and not self._block.finished:
            self._first_pass, self._block = known, None
            # Reference cycles of the compiler hold the tables of the first pass.
            gc.collect()
            self._block = block_in_kernels(self._device, block, self._longest, self._memory)

    def _in_passes(self, block: OrderedBlock, saved: SavedPasses | None = None) -> BlockInPasses:
        """Begin a block in several passes, or go on after some."""
        if self._beside_kernels == 0:
            raise SizeError(
                f"a count in passes starts kernels, which take {bytes_text(KERNELS)}, and there are "
                f"{bytes_text(self._memory or 0)}: {parameter('memory')} allows more"
            )
        self._memory = self._beside_kernels
        self._share_before_passes = self._share if self._saved_block is None else 0.0
        with self._kernels() as device:
            if self._longest is None:
                numbers = Sizes(self._plan_of(block)).numbers_in_a_pass(self._memory)
                return TotalInPasses(device, block, self._memory, numbers, saved)
            return BlockInPasses(device, block, self._longest, self._memory, saved)

    def _kernels(self) -> AbstractContextManager[Device]:
        """Hold the device for passes: the CPU, where all other blocks are counted in Python."""
        return held_device("cpu") if self._device is None else nullcontext(self._device)
