"""How states and numbers lie in the cells of arrays, which are words of 64 bits: for numpy and for kernels."""

DIGIT_BITS = 48
DIGIT_LIMIT = 1 << DIGIT_BITS
"""Numbers of any size are digits below this, the lowest first. A cell holds the sum of 2^16 digits."""

TAKEN, WRITTEN = 1 << 63, 1 << 62
"""Flags of the cells of a state in a hash table, which it leaves free: each cell is taken, and the first one says
whether all are written."""
DEAD = (1 << 64) - 1
"""The first word of a state outside of hash tables that leads to no cycle."""

TALLIES = 1024
"""Cells over which work items spread what they count: atomics on one cell are slow."""
FULL, FOUND = 3 * TALLIES, 3 * TALLIES + 1
"""Where the tallies say that a table was full, and where the ways that close a cycle begin.

Before come how many rows are new, the largest numbers (the place of the highest digit and that digit, in one cell),
and the most vertices on a cycle.
"""
BIAS = 1 << 62
"""Added to a value in a row, so that it is above zero, where a row begins."""
ORIGIN = FOUND
"""Where the tallies say from where the best cycle that closes comes; the ways follow."""

PART = 4
"""Cells of a part on the cores of a CPU: its first row in the old layer, its rows, the same in the new layer."""
NEXT, OVERFLOW, DONE, ROWS, WAYS = range(5)
"""Cells of the queue of parts: the next part; set where a sum had too many digits; the fewest vertices that came in a
part; the rows and the cells for ways that the new layer takes."""
WINDOW = 2
"""Cells of a row between the words and the ways in a count by length: the first cell of its ways among all, and its
fewest and its most vertices."""
FIRST, FEWEST, MOST, LINKS, BESIDE = range(5)
"""Cells of a row of a table behind the state in a count by length: the first cell of its ways among all, `LENGTH_LIMIT`
less its fewest vertices, its most vertices, and where its children are. `BESIDE` is how many these are."""
LENGTH_LIMIT = 1 << 32
"""Above any number of vertices: the fewest are a maximum too, as cells are 0 at first."""
CLOSES, LINK_BITS = 63, 32
"""The bit of the links that says that a cycle closes. Below are the first cells of the rows of both children plus one,
each in `LINK_BITS` bits."""
ROOM = FOUND
"""Where the tallies say how many cells the ways by length take; the ways that close follow."""

MOST_NODES = 64
"""Nodes of the graph of vertices to come, see `kernels_ti.boundary.executors.completion`."""
