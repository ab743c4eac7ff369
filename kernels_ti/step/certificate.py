"""The certificate, for bit rows in registers: which extensions of a path can still lead to a cycle.

A path is extended at one end; the other end waits. An extension can lead to a chordless cycle exactly when
the waiting end can be reached from it through vertices that are still allowed, so flooding from the waiting
end tells which extensions are worth keeping. A shortest such way is itself chordless, hence with the
certificate at every step no path is dead and the search is output-polynomial.
"""

from kernels_ti.bits import bits_of, lowest_bit, one_taken, row_of, without_lowest, word_of
from kernels_ti.step.required import completing, required_word
from kernels_ti.taichi_door import ti


@ti.func
def reachable_extensions(
    words: ti.template(), required: ti.template(), rows: ti.template(), first_row, path, allowed, waiting, extensions,
    rounds,
):  # fmt: skip
    """Keep the extensions that the waiting end reaches, with at most `rounds` vertices between, by a flood in rounds.

    `words` is the vector type of a bit row, `rows` the adjacency, row by row, `first_row` that of the path's block.
    `allowed` are the vertices that may still join once the path has been extended, `waiting` the neighbours of the
    waiting end among them. With `required` only those extensions are kept with which the path, whose members are
    `path`, can still come to all required vertices, as far as the flood tells; it then goes on until it has come to
    these as well.
    """
    bits = ti.static(bits_of(words))
    wanted = extensions
    if ti.static(required):
        wanted = completing(words, rows, path | allowed, extensions)
    kept = words(0)
    seen = waiting
    fresh = waiting
    left = rounds
    while left > 0:
        touched = words(0)
        for w in ti.static(range(words.n)):
            rest = fresh[w]
            while rest != word_of(0, bits):
                touched |= row_of(words, rows, first_row + w * bits + lowest_bit(rest, bits))
                rest = without_lowest(rest, bits)
        missing = word_of(0, bits)
        found = word_of(0, bits)
        for w in ti.static(range(words.n)):
            kept[w] |= touched[w] & wanted[w]
            missing |= wanted[w] & ~kept[w]
            fresh[w] = touched[w] & allowed[w] & ~seen[w]
            if ti.static(required):
                # A vertex that the last round reaches is too far away to lie on a cycle that is short enough.
                seen[w] |= ti.select(left > 1, fresh[w], word_of(0, bits))
                missing |= required_word(words.n, rows, w) & ~path[w] & ~seen[w]
            else:
                seen[w] |= fresh[w]
            found |= fresh[w]
        left -= 1
        if missing == word_of(0, bits) or found == word_of(0, bits):
            left = 0
    if ti.static(required):
        kept = completing(words, rows, path | seen, kept)
    return kept


@ti.func
def flooded(words: ti.template(), near, fresh, unseen, missing):
    """Let a flood come to the neighbours `near` of a vertex, from which it has not gone on before.

    `fresh` are the vertices that it has come to and not gone on from, `unseen` the allowed ones and `missing` the
    extensions that it has not come to. Returns these three sets afterwards, and 1 if the flood is over: it misses no
    extension, or can come to no other vertex.
    """
    bits = ti.static(bits_of(words))
    lost = word_of(0, bits)
    found = word_of(0, bits)
    for w in ti.static(range(words.n)):
        missing[w] &= ~near[w]
        fresh[w] |= near[w] & unseen[w]
        unseen[w] &= ~near[w]
        lost |= missing[w]
        found |= fresh[w]
    over = 0
    if lost == word_of(0, bits) or found == word_of(0, bits):
        over = 1
    return fresh, unseen, missing, over


@ti.func
def connected_extensions(words: ti.template(), rows: ti.template(), first_row, allowed, waiting, extensions):
    """Keep the extensions that the waiting end reaches, however long the way; see `reachable_extensions`.

    Vertex by vertex instead of round by round: one loop, so that the work items of a warp stay together.
    """
    fresh, unseen, missing, over = waiting, allowed & ~waiting, extensions, 0
    while over == 0:
        label, fresh = one_taken(words, fresh)
        near = row_of(words, rows, first_row + label)
        fresh, unseen, missing, over = flooded(words, near, fresh, unseen, missing)
    return extensions & ~missing
