"""Words and bit rows (bitsets): the functions that all kernels use.

A kernel takes ``words``, a vector type such as ``vector_of(3, 32)``, as a template argument: its length is
the number of words in a bit row, its type the word of the device (64 bits on CPU, 32 elsewhere).
"""

from functools import lru_cache
from typing import Any

from kernels_ti.taichi_door import settings, ti

LARGEST_UNROLLED = 8  # Bit rows of up to this many words are held in registers; above, loops run over memory


@lru_cache
def vector_of(words: int, word_bits: int) -> Any:
    """Return the vector type that holds a bit row of `words` words of `word_bits` bits."""
    return ti.types.vector(words, ti.u64 if word_bits == 64 else ti.u32)


def bits_of(words: Any) -> int:
    """Return the number of bits in a word of a vector type made by `vector_of`."""
    return 64 if words.dtype == ti.u64 else 32


@ti.func
def word_of(value, bits: ti.template()):
    """Return the value as a word."""
    return ti.cast(value, ti.u64) if ti.static(bits == 64) else ti.cast(value, ti.u32)


@ti.func
def single(label, w, bits: ti.template()):
    """Word `w` of the set that holds `label` alone."""
    word = word_of(0, bits)
    if label // bits == w:
        word = word_of(1, bits) << word_of(label % bits, bits)
    return word


@ti.func
def above(label, w, bits: ti.template()):
    """Word `w` of the set of all labels greater than `label`."""
    word = word_of(0, bits)
    first = label + 1 - w * bits
    if first <= 0:
        word = ~word
    elif first < bits:
        word = (~word) << word_of(first, bits)
    return word


@ti.func
def population(x, bits: ti.template()):
    """Count the set bits of a word."""
    return ti.cast(ti.math.popcnt(ti.cast(x, ti.i64 if ti.static(bits == 64) else ti.i32)), ti.i32)


@ti.func
def lowest_bit(x, bits: ti.template()):
    """Index of the lowest set bit of a word that is not zero.

    It uses the population count: count-leading-zeros is wrong on Vulkan for a word whose top bit is set.
    """
    return population((x & (~x + word_of(1, bits))) - word_of(1, bits), bits)


@ti.func
def one_taken(words: ti.template(), labels):
    """Remove one label from a non-empty set in registers: the one that the device finds fastest.

    Returns the label and the set without it. On CUDA it is the highest label, found with count-leading-zeros.
    """
    bits = ti.static(bits_of(words))
    label = 0
    if ti.static(bits == 32 and settings().arch == ti.cuda):
        word, base = labels[0], 0
        for w in ti.static(range(1, words.n)):
            if labels[w] != ti.u32(0):
                word, base = labels[w], w * 32
        place = 31 - ti.math.clz(ti.cast(word, ti.i32))
        taken = ti.u32(1) << ti.cast(place, ti.u32)
        for w in ti.static(range(words.n)):
            if base == w * 32:
                labels[w] ^= taken
        label = base + place
    else:
        label, labels = lowest_taken(words, labels)
    return label, labels


@ti.func
def without_lowest(x, bits: ti.template()):
    """Return the word without its lowest set bit."""
    return x & (x - word_of(1, bits))


@ti.func
def row_of(words: ti.template(), rows: ti.template(), row):
    """Return the adjacency bit row of one row number, in registers."""
    found = words(0)
    for w in ti.static(range(words.n)):
        found[w] = rows[row * words.n + w]
    return found


def padding(words: int) -> int:
    """Return the exponent of the power of two to which `padded_row_of` expects a row of `words` words to be padded."""
    return (words - 1).bit_length()


@ti.func
def padded_row_of(words: ti.template(), rows: ti.template(), row):
    """Return a bit row that begins at a multiple of a power of two; compilers load such a row with one instruction."""
    found = words(0)
    for w in ti.static(range(words.n)):
        found[w] = rows[row << ti.static(padding(words.n)) | w]
    return found


@ti.func
def any_label(words: ti.template(), labels):
    """Word that is zero only if a set in registers is empty."""
    bits = ti.static(bits_of(words))
    union = word_of(0, bits)
    for w in ti.static(range(words.n)):
        union |= labels[w]
    return union


@ti.func
def size_of(words: ti.template(), labels):
    """Count the labels of a set in registers."""
    bits = ti.static(bits_of(words))
    size = 0
    for w in ti.static(range(words.n)):
        size += population(labels[w], bits)
    return size


@ti.func
def lowest_taken(words: ti.template(), labels):
    """Remove the lowest label from a non-empty set in registers.

    Returns the label and the set without it. A loop over labels that calls this function is compiled once. A loop for
    each word would be compiled once for every word.
    """
    bits = ti.static(bits_of(words))
    word, base = labels[words.n - 1], (words.n - 1) * bits
    for w in ti.static(range(words.n - 2, -1, -1)):
        if labels[w] != word_of(0, bits):
            word, base = labels[w], w * bits
    low = word & (~word + word_of(1, bits))
    for w in ti.static(range(words.n)):
        if base == w * bits:
            labels[w] ^= low
    return base + population(low - word_of(1, bits), bits), labels
