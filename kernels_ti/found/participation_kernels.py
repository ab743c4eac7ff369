"""Bundles of found cycles, transposed so that one operation on a word handles as many cycles as the word has bits.

A **bundle** is that many cycles of one block and one length. For each label of the block it holds a word whose bit i
says whether cycle i passes the vertex. The cycles through an edge are those through both of its ends.
"""

from kernels_ti.bits import population, word_of
from kernels_ti.taichi_door import kernel, ti

array = ti.types.ndarray


@kernel
def turn(
    bits: ti.template(), words: ti.i32, cycles: array(ndim=1), cycle_stride: ti.i32, word_stride: ti.i32,
    slots: array(ti.i32, 1), first_bundle: ti.i32, bundles: ti.i32, stride: ti.i32, turned: array(ndim=1),
):  # fmt: skip
    """Transpose some bundles; one work item takes one word of the cycles of one bundle.

    The bits of a square of words are exchanged across its diagonal: first halves, then quarters, down to single bits
    (Warren, *Hacker's Delight*, 7-3). `slots` has the cycles of each bundle, -1 where there is none. Bit i of word
    ``label * stride + b`` of `turned` then says whether cycle i of bundle ``first_bundle + b`` has the label.
    """
    for item in range(bundles * words):
        bundle = item % bundles
        word = item // bundles
        start = word * bits * stride + bundle
        for i in range(bits):
            cycle = slots[(first_bundle + bundle) * bits + i]
            value = word_of(0, bits)
            if cycle >= 0:
                value = cycles[cycle * cycle_stride + word * word_stride]
            turned[start + i * stride] = value
        half = bits // 2
        mask = (word_of(1, bits) << word_of(half, bits)) - word_of(1, bits)
        while half > 0:
            for pair in range(bits // 2):
                low = start + ((pair // half) * 2 * half + pair % half) * stride
                high = low + half * stride
                one, other = turned[low], turned[high]
                moved = ((one >> word_of(half, bits)) ^ other) & mask
                turned[low] = one ^ (moved << word_of(half, bits))
                turned[high] = other ^ moved
            half = half // 2
            mask = mask ^ (mask << word_of(half, bits))


@kernel
def tally(
    bits: ti.template(), turned: array(ndim=1), stride: ti.i32, items: ti.i32, begins: array(ti.i32, 1),
    ends: array(ti.i32, 1), labels: array(ti.i32, 1), others: array(ti.i32, 1), counts: array(ti.i32, 1),
):  # fmt: skip
    """Count the cycles through both of two labels, which are equal for a vertex; one work item takes a few bundles.

    Each has its first bundle of those that `turn` made, one past its last, and its two labels.
    """
    for item in range(items):
        one, other = labels[item] * stride, others[item] * stride
        count = 0
        for bundle in range(begins[item], ends[item]):
            count += population(turned[one + bundle] & turned[other + bundle], bits)
        counts[item] = count
