"""Kernels that anneal vertex orders: many chains side by side, each with an order of its own.

A chain is an order of the n vertices of a block, the place of each vertex in it, and for each k from 0 to n the
boundary of the first k vertices. A move takes one vertex to another place. It changes the boundaries between the two
places only, and each of them by what the vertex and its neighbours tell.

All numbers are integers of 32 bits, and the random ones are hashes of the chain and the move. So the result is the same
on each arch, for any number of threads, and however the moves are parted into launches.
"""

from kernels_ti.taichi_door import kernel, ti

WEIGHTS = 32
"""Sizes that have a weight of their own. All smaller ones have the least, all larger ones the largest weight."""

LARGEST_ABOVE = 3
"""How much larger a boundary may be than the chain's largest one at its last `weigh`, to have a weight of its own."""

LARGEST_ENERGY = 1 << 30
GAIN_BITS = 14
"""Bits behind the point of a tolerated gain of energy."""

GAINS = 256
FACTS = 3
"""Cells of a chain: its energy, its largest boundary, and the boundary whose weight is the middle one."""

array = ti.types.ndarray


@ti.func
def hashed(number):
    """Mix 32 bits: a permutation (M. E. O'Neill's PCG, output RXS-M-XS)."""
    state = number * ti.u32(747796405) + ti.u32(2891336453)
    word = ((state >> ((state >> ti.u32(28)) + ti.u32(4))) ^ state) * ti.u32(277803737)
    return (word >> ti.u32(22)) ^ word


@ti.func
def below(random, most):
    """Return a number from 0 to `most` - 1."""
    return ti.cast((random >> ti.u32(8)) % ti.cast(most, ti.u32), ti.i32)


@ti.func
def weight(size, middle, weights: ti.template()):
    """Return the energy of a boundary of this size."""
    return weights[ti.min(ti.max(size - middle + WEIGHTS - 1 - LARGEST_ABOVE, 0), WEIGHTS - 1)]


@kernel
def weigh(
    chains: ti.i32, spread: ti.i32, n: ti.i32, sizes: array(ti.i32, 1), weights: array(ti.i32, 1),
    facts: array(ti.i32, 1),
):  # fmt: skip
    """Add up the energy of each chain, with weights around its largest boundary; one work item in `spread` has one."""
    for item in range(chains * spread):
        if item % spread == 0:
            chain = item // spread
            largest, energy = 0, 0
            for k in range(n + 1):
                largest = ti.max(largest, sizes[chain * (n + 1) + k])
            for k in range(n + 1):
                energy = energy + weight(sizes[chain * (n + 1) + k], largest, weights)
            facts[chain * FACTS] = energy
            facts[chain * FACTS + 1] = largest
            facts[chain * FACTS + 2] = largest


@ti.func
def tolerated_gain(energy, gain):
    """Return a part of an energy: `gain` has `GAIN_BITS` bits behind the point."""
    return (energy >> GAIN_BITS) * gain + ((energy & ((1 << GAIN_BITS) - 1)) * gain >> GAIN_BITS)


@kernel
def anneal(
    chains: ti.i32, spread: ti.i32, n: ti.i32, window: ti.i32, first_move: ti.i32, moves: ti.i32, seed: ti.u32,
    first: array(ti.i32, 1), neighbours: array(ti.i32, 1), weights: array(ti.i32, 1), gains: array(ti.i32, 1),
    order: array(ti.i32, 1), place: array(ti.i32, 1), sizes: array(ti.i32, 1), facts: array(ti.i32, 1),
    changes: array(ti.i32, 1), fresh: array(ti.i32, 1),
):  # fmt: skip
    """Try a number of moves in each chain; one work item in `spread` has a chain.

    It reads the graph (its neighbours as in `Graph`), the weights and the tolerated gains of energy. `changes` and
    `fresh` are its scratch, `window` + 2 cells each; it finds `changes` empty and leaves it so.
    """
    for item in range(chains * spread):
        if item % spread == 0:
            chain = item // spread
            at, size_at, scratch = chain * n, chain * (n + 1), chain * (window + 2)
            energy, middle = facts[chain * FACTS], facts[chain * FACTS + 2]
            for move in range(first_move, first_move + moves):
                random = hashed(ti.cast(move, ti.u32) + hashed(ti.cast(chain, ti.u32) + hashed(seed)))
                # A vertex before which the boundary is large: the best of three.
                i = below(random, n)
                for _ in range(2):
                    random = hashed(random)
                    other = below(random, n)
                    if sizes[size_at + other] > sizes[size_at + i]:
                        i = other
                v = order[at + i]
                random = hashed(random)
                j = -1
                if random & ti.u32(1):
                    # Next to a neighbour, or nearly so.
                    random = hashed(random)
                    u = neighbours[first[v] + below(random, first[v + 1] - first[v])]
                    random = hashed(random)
                    j = place[at + u] + below(random, 5) - 2
                else:
                    # Anywhere, most often not far.
                    part = ti.cast(random >> ti.u32(22), ti.i32)
                    distance = 1 + ((part * part * part >> 20) * (window - 1) >> 10)
                    j = i + (distance if random & ti.u32(2) else -distance)
                length = ti.abs(j - i)
                if j >= 0 and j < n and length > 0 and length <= window:
                    # The boundary after k vertices becomes what it was after k + 1 or k - 1, without or with v.
                    to = 1 if j > i else -1
                    least = ti.min(i, j) + 1
                    last_of_v = 0
                    for e in range(first[v], first[v + 1]):
                        u = neighbours[e]
                        last = place[at + u]
                        last_of_v = ti.max(last_of_v, last)
                        for f in range(first[u], first[u + 1]):
                            if neighbours[f] != v:
                                last = ti.max(last, place[at + neighbours[f]])
                        # Without v, all neighbours of u have come by `last`: v alone keeps u in the boundary.
                        begin = ti.max(last + 1 - to, least) if to < 0 else ti.max(last, least)
                        if begin < least + length:
                            changes[scratch + begin - least] = changes[scratch + begin - least] + 1
                    start = ti.max(last_of_v + 1 - to, least) if to < 0 else ti.max(last_of_v, least)
                    if start < least + length:
                        changes[scratch + start - least] = changes[scratch + start - least] + 1
                    gained, change = 0, -1
                    for k in range(length):
                        change = change + changes[scratch + k]
                        changes[scratch + k] = 0
                        size = sizes[size_at + least + k + to] + to * change
                        fresh[scratch + k] = size
                        gained = gained + weight(size, middle, weights)
                        gained = gained - weight(sizes[size_at + least + k], middle, weights)
                    random = hashed(random)
                    gain = gains[ti.cast(random >> ti.u32(24), ti.i32)]
                    if gained <= tolerated_gain(energy, gain) and energy + gained < LARGEST_ENERGY:
                        energy = energy + gained
                        for k in range(length):
                            sizes[size_at + least + k] = fresh[scratch + k]
                            u = order[at + i + to * (k + 1)]
                            order[at + i + to * k] = u
                            place[at + u] = i + to * k
                        order[at + j] = v
                        place[at + v] = j
            facts[chain * FACTS] = energy
