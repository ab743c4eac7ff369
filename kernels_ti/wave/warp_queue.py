"""The queue of a warp on CUDA: labels that lanes have found, written out by all lanes in turn.

An entry is the slot of a record with a label above it, in a cell of shared memory. Lanes find unequal numbers of
labels; the queue evens them out before anything is written.
"""

from kernels_ti.device.levels import said_by_first
from kernels_ti.device.placing import WARP, WHOLE_WARP, placed, rank_of
from kernels_ti.taichi_door import ti

SLOT_BITS = 8
"""Bits of an entry that hold the slot."""


@ti.func
def queue_label(pool: ti.template(), at, having, lane, slot, label):
    """Put a label of this lane into the queue, from cell `at` on, behind those of the lanes before it in `having`."""
    pool[at + rank_of(having, lane)] = ti.cast(slot | label << SLOT_BITS, ti.u32)


@ti.func
def write_queue(
    write: ti.template(), given: ti.template(), pool: ti.template(), queue_at, queued, lane,
    control: ti.template(), counter,
):  # fmt: skip
    """Write out all `queued` entries of the queue from cell `queue_at` of the pool on; all lanes of the warp take part.

    `write` takes the slot and the label of an entry, the place that it got, which may be beyond the room that there is,
    and then the arguments in `given`. The places are taken from a `counter` of `control`, see
    `kernels_ti.device.placing.placed`.
    """
    place = 0
    if lane == 0:
        place = placed(control, counter, queued)
    place = said_by_first(place)
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))
    one = lane
    while one < queued:
        entry = ti.cast(pool[queue_at + one], ti.i32)
        write(entry & (1 << SLOT_BITS) - 1, entry >> SLOT_BITS, place + one, *given)
        one += WARP
    ti.simt.warp.sync(ti.u32(WHOLE_WARP))
