"""The choice of the end: who closes a path, at which of its two ends it grows, and by which vertices.

A vertex that may join and is adjacent to both ends closes a cycle. Each other neighbour of an end extends the path
there. The path grows at the end with fewer extensions; the other end **waits**. The choice depends on the path alone,
so each cycle is found once, from whichever path the search comes to it.

`choice_of_end` works on bit rows in registers, `choice_of_end_wide` on bit rows in memory. All schedules use them.
"""

import taichi as ti

from kernels_ti.bits import bits_of, population


@ti.func
def parted(near_last, near_other):
    """Part the free neighbours of both ends of a path, one word of each.

    Parameters
    ----------
    near_last, near_other : word
        Vertices that may join and are neighbours of the end that joined last, and of the other end.

    Returns
    -------
    word, word, word
        Those adjacent to both ends, to the last alone, and to the other alone.
    """
    return near_last & near_other, near_last & ~near_other, near_other & ~near_last


@ti.func
def chosen(two_ended, room, of_last, of_other):
    """Choose the end at which a path grows: the one with fewer extensions, the last end if there are as many.

    Parameters
    ----------
    two_ended : int
        0 for the expansion of the paper, which extends the last end whatever there is at the other.
    room : int
        1 if cycles that are longer by two vertices than the path are still wanted.
    of_last, of_other : int
        Extensions at both ends.

    Returns
    -------
    opened, swapped : int
        How many extensions are tried, none if an end has none; and 1 if the other end is the one that grows.
    """
    opened, swapped = of_last, 0
    if two_ended == 1:
        opened = ti.min(of_last, of_other)
        swapped = ti.cast(of_other < of_last, ti.i32)
    return ti.select(room == 1, opened, 0), swapped


@ti.func
def choice_of_end(words: ti.template(), two_ended, room, near_last, near_other):
    """Look at a path in registers: who closes it, at which end it grows, and by which vertices.

    Parameters
    ----------
    words : template
        Vector type of a bit row.
    two_ended, room : int
        See `chosen`.
    near_last, near_other : bit row
        Vertices that may join and are neighbours of the end that joined last, and of the other end.

    Returns
    -------
    closers : bit row
        Vertices that close a cycle.
    only_last, only_other : bit row
        Vertices that extend the path at the last end, and at the other.
    closing, opened, swapped : int
        How many closers there are; the other two see `chosen`.
    """
    bits = ti.static(bits_of(words))
    closers, only_last, only_other = words(0), words(0), words(0)
    closing, of_last, of_other = 0, 0, 0
    for w in ti.static(range(words.n)):
        closers[w], only_last[w], only_other[w] = parted(near_last[w], near_other[w])
        closing += population(closers[w], bits)
        of_last += population(only_last[w], bits)
        of_other += population(only_other[w], bits)
    opened, swapped = chosen(two_ended, room, of_last, of_other)
    return closers, only_last, only_other, closing, opened, swapped


@ti.func
def choice_of_end_wide(
    bits: ti.template(), words, two_ended, room, rows: ti.template(), last, near_other: ti.template(), other_at,
    allowed: ti.template(), stride, allowed_at,
):  # fmt: skip
    """Look at a path in memory: how many vertices close it, at which end it grows, and by how many vertices.

    Parameters
    ----------
    bits, words : int
        Bits to a word, words to a bit row.
    two_ended, room : int
        See `chosen`.
    rows : ndarray
        Adjacency bit rows, row-major.
    last : int
        Row of the end that joined last.
    near_other : ndarray
        The neighbours of the other end are its words from `other_at` on.
    allowed : ndarray
        Word w of the vertices that may join is ``allowed[allowed_at + w * stride]``.

    Returns
    -------
    closing, opened, swapped : int
        How many vertices close the path; the other two see `chosen`.
    """
    closing, of_last, of_other = 0, 0, 0
    for w in range(words):
        free = allowed[allowed_at + w * stride]
        closers, only_last, only_other = parted(rows[last * words + w] & free, near_other[other_at + w] & free)
        closing += population(closers, bits)
        of_last += population(only_last, bits)
        of_other += population(only_other, bits)
    opened, swapped = chosen(two_ended, room, of_last, of_other)
    return closing, opened, swapped
