"""The choice of the end: who closes a path, at which of its two ends it grows, and by which vertices.

A vertex that may join and is adjacent to both ends closes a cycle. Each other neighbour of an end extends the path
there. The path grows at the end with fewer extensions; the other end **waits**. The choice depends on the path alone,
so each cycle is found once, from whichever path the search comes to it. This is the core of Algorithm 4 of Jradi et
al., who always extend the end that joined last (`two_ended` 0).

`choice_of_end` works on bit rows in registers, `choice_of_end_wide` on bit rows in memory. All schedules use them. The
CPU's sweep (`kernels_ti.sweep.depth_first`) and the search of many graphs (`kernels_ti.many.kernel`) call their parts
`parted`, `tried` and `other_grows` themselves: with `choice_of_end` LLVM orders the inner loop in another way, which
took 6% more time on a grid of 7x10.
"""

from kernels_ti.bits import bits_of, population
from kernels_ti.step.chords import open_word
from kernels_ti.taichi_door import ti


@ti.func
def parted(near_last, near_other):
    """Part the free neighbours of both ends of a path, one word of each, the end that joined last first.

    Returns those adjacent to both ends, to the last alone, and to the other alone.
    """
    return near_last & near_other, near_last & ~near_other, near_other & ~near_last


@ti.func
def tried(two_ended, room, of_last, of_other):
    """Count the extensions by which a path grows, from those at both ends: none if an end has none.

    The expansion of the paper, with `two_ended` 0, extends the last end whatever there is at the other. `room` is 1 if
    cycles that are longer by two vertices than the path are still wanted.
    """
    opened = of_last
    if two_ended == 1:
        opened = ti.min(of_last, of_other)
    return ti.select(room == 1, opened, 0)


@ti.func
def other_grows(two_ended, of_last, of_other):
    """Choose the end at which a path grows: 1 for the other end, which has fewer extensions, 0 for the last."""
    return ti.cast(two_ended == 1 and of_other < of_last, ti.i32)


@ti.func
def choice_of_end(words: ti.template(), two_ended, room, near_last, near_other):
    """Look at a path in registers: who closes it, at which end it grows, and by which vertices.

    `near_last` and `near_other` are the vertices that may join and are neighbours of the end that joined last, and of
    the other end; for the numbers see `tried`. Returns the bit rows of the closers and of the extensions at the last
    end and at the other, how many closers there are, how many extensions are tried, and 1 if the other end grows.
    """
    bits = ti.static(bits_of(words))
    closers, only_last, only_other = words(0), words(0), words(0)
    closing, of_last, of_other = 0, 0, 0
    for w in ti.static(range(words.n)):
        closers[w], only_last[w], only_other[w] = parted(near_last[w], near_other[w])
        closing += population(closers[w], bits)
        of_last += population(only_last[w], bits)
        of_other += population(only_other[w], bits)
    opened, swapped = tried(two_ended, room, of_last, of_other), other_grows(two_ended, of_last, of_other)
    return closers, only_last, only_other, closing, opened, swapped


@ti.func
def choice_of_end_wide(
    bits: ti.template(), words, two_ended, room, rows: ti.template(), last, near_other: ti.template(), other_at,
    allowed: ti.template(), stride, allowed_at, chorded: ti.template(), ends,
):  # fmt: skip
    """Look at a path in memory: how many vertices close it, at which end it grows, and by how many vertices.

    Row `last` of `rows` is the end that joined last; the neighbours of the other end are the words of `near_other` from
    `other_at` on. Word w of the vertices that may join is ``allowed[allowed_at + w * stride]``. For `two_ended` and
    `room` see `tried`, for `chorded` and `ends` `kernels_ti.step.chords.open_word`. Returns how many vertices close the
    path, how many extensions are tried, and 1 if the other end grows.
    """
    closing, of_last, of_other = 0, 0, 0
    for w in range(words):
        free = open_word(chorded, rows, words, ends, last, w, allowed[allowed_at + w * stride])
        closers, only_last, only_other = parted(rows[last * words + w] & free, near_other[other_at + w] & free)
        closing += population(closers, bits)
        of_last += population(only_last, bits)
        of_other += population(only_other, bits)
    return closing, tried(two_ended, room, of_last, of_other), other_grows(two_ended, of_last, of_other)
