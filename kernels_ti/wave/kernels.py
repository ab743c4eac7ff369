"""The wave: one work item for each path of a slice of the frontier, with its children placed side by side.

Stage 2 (`expand`) of the paper for bit rows in registers; stage 1 is `kernels_ti.step.stage_1`.
"""

from functools import lru_cache
from typing import Any

from kernels_ti.device.levels import attend, note_level, opened_level, through_levels
from kernels_ti.device.placing import GROUP, WARP, padded
from kernels_ti.taichi_door import kernel, ti
from kernels_ti.wave.one_record import expand_record
from kernels_ti.wave.warp_batch import WARPS, cells_of, cells_of_rows, expand_batch, load_rows, most_batches

THREADS = 1 << 17
"""Threads of a launch on CUDA, more than run at a time. Records are first spread over those that do, then several are
given to each; warps take batch after batch, so that no bound has to be known before."""

array = ti.types.ndarray


@lru_cache
def expand_kernel(
    words: Any,
    collect: bool,
    arch: str,
    bounded: bool,
    required: bool = False,
    resident: bool = False,
    pruned: bool = False,
) -> Any:
    """Return stage 2 for one kind of record; many launches of it are queued in one `ti.graph`.

    `words` is a vector type of `kernels_ti.bits.vector_of`, `arch` is open now. With `collect` records have members,
    and cycles are stored. With `bounded` some cycles are too long to be wanted. With `required`, and `collect`, cycles
    must pass certain vertices, see `kernels_ti.step.required`. With `resident` there is but one block, see
    `kernels_ti.wave.warp_batch`. With `pruned` paths that cannot become cycles of `least_length` vertices are dropped,
    and no block has more than `most_vertices`.
    """
    first_corner, cells = cells_of_rows(words.n, resident), cells_of(words.n, resident, collect)

    @kernel
    def expand(
        launch: ti.i32, meeting: ti.i32, levels: ti.i32, two_ended: ti.i32, rows: array(ndim=1),
        first_row: array(ti.i32, 1), parents: ti.i32, length: ti.i32, max_length: ti.i32, least_length: ti.i32,
        most_vertices: ti.i32, control: array(ti.u32, 1), allowed: array(ndim=1), ends: array(ti.i32, 1),
        members: array(ndim=1), capacity: ti.i32, from_start: ti.i32, direction: ti.i32, to_start: ti.i32, free: ti.i32,
        cycles: array(ndim=1), cycle_capacity: ti.i32, cycle_start: ti.i32,
    ):  # fmt: skip
        """Stage 2: expand a level of a queue, level 0 from a slice of the frontier; on CUDA, all levels of it.

        One work item takes one record, on CUDA a warp takes a batch of them: it counts or emits the cycles that
        a vertex adjacent to both ends closes, chooses the end with fewer extensions, keeps those that the
        certificate lets pass, and writes a record for each on the other side of the arena. Without `two_ended` it
        is the paper's expansion: the last vertex only, no certificate. Level j reads side j mod 2 and may take what
        is left of `free` places; a level that does not fit stops the queue, its parents untouched, and the host
        reads so in `control`. On CUDA there is one launch, and `meeting` thread blocks, which are on the device
        together, go on from level to level; with none, they are counted and nothing else is done.
        """
        if ti.static(arch == "cuda"):
            ti.loop_config(block_dim=WARPS * WARP)
            for thread in range(THREADS):
                in_block = thread & WARPS * WARP - 1
                pool = ti.simt.block.SharedArray((first_corner + WARPS * cells,), ti.u32)
                corner = first_corner + (thread >> 5 & WARPS - 1) * cells
                if meeting == 0:
                    attend(control, in_block == 0)
                if ti.static(resident):
                    if thread < meeting * WARPS * WARP:
                        load_rows(words, pool, rows, first_row.shape[0], in_block)
                through_levels(
                    expand_batch,
                    (
                        words, collect, bounded, required, pruned, resident, pool, corner, length, two_ended,
                        max_length, least_length, most_vertices, rows, first_row, control, allowed, ends, members,
                        capacity, cycles, cycle_capacity, cycle_start,
                    ),
                    collect, ti.static(most_batches(words.n)), WARPS * WARP, thread, meeting, control,
                    levels, parents, free, cycle_capacity - cycle_start, from_start, to_start, direction,
                )  # fmt: skip
        else:
            level = launch
            ready, room, taken = opened_level(control, level, levels, parents, free, cycle_capacity - cycle_start)
            note_level(control, level, ready, room, taken)
            ti.loop_config(block_dim=GROUP)
            for item in range(padded(ready)):
                start, target, way = from_start, to_start, direction
                if level % 2 == 1:
                    start, target, way = to_start, from_start, -direction
                expand_record(
                    words, collect, arch, bounded, required, pruned,
                    item, ready, level, length + level, two_ended, max_length, least_length, most_vertices, rows,
                    first_row, control, allowed, ends, members, capacity, start, target, way, free - ready,
                    cycles, cycle_capacity, cycle_start + taken,
                )  # fmt: skip

    return expand
