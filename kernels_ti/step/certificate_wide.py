"""The certificate for bit rows of any number of words, held in memory: loops at run time.

See `kernels_ti.step.certificate` for what it certifies. Here a queue of vertices takes the place of whole rows: a
vertex of few neighbours is looked at neighbour by neighbour, one of many word by word, so a flood costs no
more than the edges that it meets, or the words.
"""

from kernels_ti.bits import lowest_bit, population, without_lowest, word_of
from kernels_ti.step.required import keep_completing
from kernels_ti.taichi_door import ti


@ti.func
def reachable_extensions_wide(
    bits: ti.template(), words, required: ti.template(), rows: ti.template(), row_ptr: ti.template(),
    neighbour: ti.template(), first_row, sets: ti.template(), stride, allowed_at, waiting_at, extensions_at, kept_at,
    seen_at, path: ti.template(), path_stride, path_at, fifo: ti.template(), fifo_stride, fifo_at, rounds,
):  # fmt: skip
    """Keep the extensions that the waiting end reaches, with at most `rounds` vertices between; return their number.

    Word w of a set is ``sets[..._at + w * stride]``: `allowed`, `waiting` and `extensions` are read, `kept`, the
    result, and `seen` are written. The blocks are those of `kernels_ti.blocks.block_group.BlockGroup`. Entry k of the
    flood's queue is written to ``fifo[fifo_at + k * fifo_stride]``. With `required` the members of the path, word w at
    ``path[path_at + w * path_stride]``, count as in `kernels_ti.step.certificate.reachable_extensions`, and the flood
    goes as far as it can, else it ends as soon as it has come to all extensions.
    """
    missing, head, tail = ti.static(1 if required else 0), 0, 0
    for w in range(words):
        missing += population(sets[extensions_at + w * stride], bits)
        start = sets[waiting_at + w * stride]
        sets[seen_at + w * stride] = start
        sets[kept_at + w * stride] = word_of(0, bits)
        while start != word_of(0, bits):
            fifo[fifo_at + tail * fifo_stride] = w * bits + lowest_bit(start, bits)
            tail += 1
            start = without_lowest(start, bits)
    wanted = missing
    round_end = tail
    left = rounds
    while head < tail and missing > 0 and left > 0:
        row = first_row + fifo[fifo_at + head * fifo_stride]
        head += 1
        goes_on = 1
        if ti.static(required):
            # A vertex that the last round reaches is too far away to lie on a cycle that is short enough.
            goes_on = ti.cast(left > 1, ti.i32)
        begin, end = row_ptr[row], row_ptr[row + 1]
        if end - begin <= words:
            for entry in range(begin, end):
                label = neighbour[entry] - first_row
                w = label // bits * stride
                bit = word_of(1, bits) << word_of(label % bits, bits)
                kept = sets[kept_at + w]
                seen = sets[seen_at + w]
                if (sets[extensions_at + w] & ~kept & bit) != word_of(0, bits):
                    sets[kept_at + w] = kept | bit
                    missing -= 1
                elif (sets[allowed_at + w] & ~seen & bit) != word_of(0, bits) and goes_on == 1:
                    sets[seen_at + w] = seen | bit
                    fifo[fifo_at + tail * fifo_stride] = label
                    tail += 1
        else:
            for k in range(words):
                w = k * stride
                near = rows[row * words + k]
                kept = sets[kept_at + w]
                seen = sets[seen_at + w]
                touched = near & sets[extensions_at + w] & ~kept
                fresh = near & sets[allowed_at + w] & ~seen
                if goes_on == 0:
                    fresh = word_of(0, bits)
                sets[kept_at + w] = kept | touched
                sets[seen_at + w] = seen | fresh
                missing -= population(touched, bits)
                while fresh != word_of(0, bits):
                    fifo[fifo_at + tail * fifo_stride] = k * bits + lowest_bit(fresh, bits)
                    tail += 1
                    fresh = without_lowest(fresh, bits)
        if head == round_end:
            left -= 1
            round_end = tail
    kept_count = wanted - missing
    if ti.static(required):
        kept_count = keep_completing(bits, words, rows, sets, stride, kept_at, seen_at, path, path_stride, path_at)
    return kept_count
