"""Bit rows of one word for what a long path can still use.

A path can still use the vertices that are allowed and its extensions. The longer a path, the fewer they are. When one
word has a bit for each of them, the search below that frame goes on in **compact** rows of one word, in the worker's
local memory. It ends when no frame is left, or with the slice; frames that are left then get the labels of their block
again. Members stay bit rows over the block, or over the graph, all the time, so that a cycle is written as it is found.
"""

from kernels_ti.bits import lowest_bit, population, vector_of, without_lowest
from kernels_ti.sweep.depth_first import WORD, end_and_length, end_of, length_of
from kernels_ti.taichi_door import ti

ONE_WORD = vector_of(1, WORD)

MOST_FRAMES = WORD
"""More frames than a search in compact rows can have at a time, so that none has to move to the stack: each frame has
at least two extensions that no other frame has, so there are at most half as many frames as labels."""

WAITING_END = WORD  # The compact label of the end that waits as the search begins; it needs no bit

COST = 2
"""Paths that must be expanded for each compact row, on average, to save the time that it took to make the row."""

MOST_CREDIT = 1 << 14
"""The most paths beyond `COST` that a worker may save up in a slice: one large search pays for many small ones after
it, but not for any number of them."""

PAUSE = 1024  # Paths that a worker looks at in the rows of the block once its credit is used up


def compact_words(words: int) -> int:
    """Count the words of a worker's stack that a search in compact rows needs.

    They hold the usable vertices of the block, the label of each and of the waiting end, and for each usable vertex the
    bit row that holds it alone, over the block or the graph.
    """
    return words + WORD + 1 + WORD * words


@ti.func
def first_single(words, place):
    """Return the word of the stack with the first of the bit rows that hold one vertex alone."""
    return place + words + WORD + 1


@ti.func
def usable_on(words, stack: ti.template(), at):
    """Count the vertices that the path of the frame at word `at` of a stack can still use."""
    count = 0
    for w in range(words):
        count += population(stack[at + w] | stack[at + 2 * words + w], WORD)
    return count


@ti.func
def compact_row(words, source: ti.template(), at, stack: ti.template(), place):
    """Gather the usable bits of the bit row at word `at` of `source` side by side in one word."""
    row, before = ti.u64(0), 0
    for w in range(words):
        inside = stack[place + w]
        rest = source[at + w] & inside
        while rest != ti.u64(0):
            low = rest & (~rest + ti.u64(1))
            rest ^= low
            row |= ti.u64(1) << ti.cast(before + population(inside & (low - ti.u64(1)), WORD), ti.u64)
        before += population(inside, WORD)
    return row


@ti.func
def make_compact(
    words, member_words: ti.template(), over_graph: ti.template(), rows: ti.template(), vertex_bits: ti.template(),
    first, stack: ti.template(), at, place, compact: ti.template(),
):  # fmt: skip
    """Write the compact row of each vertex that the frame at word `at` of the stack can still use.

    With members, also the bit row that holds this vertex alone.

    Word `place` of the stack is the first of those that `compact_words` counts.
    """
    for w in range(words):
        stack[place + w] = stack[at + w] | stack[at + 2 * words + w]
    count = 0
    for w in range(words):
        rest = stack[place + w]
        while rest != ti.u64(0):
            label = w * WORD + lowest_bit(rest, WORD)
            rest = without_lowest(rest, WORD)
            stack[place + words + count] = ti.cast(label, ti.u64)
            if ti.static(member_words > 0):
                single_at = first_single(words, place) + count * words
                for k in range(words):
                    stack[single_at + k] = ti.u64(0)
                    if ti.static(over_graph):
                        stack[single_at + k] = vertex_bits[(first + label) * words + k]
                if ti.static(not over_graph):
                    stack[single_at + w] = ti.u64(1) << ti.cast(label % WORD, ti.u64)
            compact[count] = compact_row(words, rows, (first + label) * words, stack, place)
            count += 1
    last = stack[at + 3 * words + member_words + 1]
    stack[place + words + WAITING_END] = ti.cast(end_of(last) - first, ti.u64)


@ti.func
def put_back(words, member_words: ti.template(), first, top: ti.template(), frames, stack: ti.template(), at, place):
    """Write frames of a search in compact rows to the stack, from word `at` on, with the labels of their block."""
    labels = place + words
    for h in range(frames):
        frame = at + h * (3 * words + member_words + 2)
        for part in ti.static(range(3)):
            row = frame + part * words
            for w in range(words):
                stack[row + w] = ti.u64(0)
            rest = top[part][h]
            while rest != ti.u64(0):
                label = ti.cast(stack[labels + lowest_bit(rest, WORD)], ti.i32)
                rest = without_lowest(rest, WORD)
                place_of_word = row + label // WORD
                stack[place_of_word] = stack[place_of_word] | ti.u64(1) << ti.cast(label % WORD, ti.u64)
        for w in ti.static(range(member_words)):  # they do not have compact labels
            stack[frame + 3 * words + w] = top[3 + w][h]
        last = top[4 + member_words][h]
        end = first + ti.cast(stack[labels + end_of(last)], ti.i32)
        stack[frame + 3 * words + member_words] = top[3 + member_words][h]
        stack[frame + 3 * words + member_words + 1] = end_and_length(end, length_of(last))
