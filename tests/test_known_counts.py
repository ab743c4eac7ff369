"""Every generated graph whose counts are known: Table 1 of the paper, and more."""

import pytest
from chordless import generate
from known import Known, check_counts, check_frontier, each, generated

from kernels_ti import count_cycles, longest_cycle

KNOWN = generated()
FRONTIERS = {"cycle:100", "bipartite:8x8", "grid:4x10", "grid:5x6", "grid:6x6"}


HOLES, ODD_HOLES = {"min_length": 4}, {"min_length": 4, "parity": "odd"}
PUBLISHED = {
    "A360854": (["rook:2x2", "rook:3x3", "rook:4x4", "rook:5x5"], {}, [1, 21, 236, 4040]),
    "A361185": (["complement:rook:3x3", "complement:rook:4x4", "complement:rook:5x5"], HOLES, [15, 264, 1700]),
    "A370299": (["complement:sierpinski:2", "complement:sierpinski:3"], HOLES, [0, 171]),
    "A301772": ([f"circulant:{2 * n},1,2" for n in range(4, 12)], ODD_HOLES, [8, 2, 24, 16, 48, 92, 100, 310]),
    "A301774": (["prism:5", "prism:7", "prism:9", "prism:11", "prism:13"], ODD_HOLES, [12, 30, 74, 200, 522]),
    "A301773": (["moebius:4", "moebius:6", "moebius:8", "moebius:10"], ODD_HOLES, [8, 16, 48, 124]),
    "A297664": ([f"grid:{n}x{n}" for n in range(2, 9)], {}, [1, 5, 24, 229, 3436, 65772, 1743247]),
    "A297666": ([f"knight:{n}x{n}" for n in range(3, 9)], {}, [1, 64, 651, 4680, 56919, 2578420]),
    "A297667": ([f"moebius:{n}" for n in range(3, 12)], {}, [9, 12, 15, 22, 35, 56, 87, 134, 209]),
    "A297668": ([f"fibonacci:{n}" for n in range(1, 9)], {}, [0, 0, 1, 3, 16, 170, 7961, 2359245]),
    "A297669": ([f"torus:{n}x{n}" for n in range(3, 7)], HOLES, [15, 224, 1815, 28716]),
    "A297670": ([f"johnson:{n},2" for n in range(4, 9)], HOLES, [3, 27, 177, 1137, 7962]),
    "A297671": ([f"triangle:{n + 1}" for n in range(2, 10)], HOLES, [0, 1, 7, 41, 260, 1930, 17463, 200008]),
    "A290026": (["halved:3", "halved:4", "halved:5", "halved:6"], {"max_length": 3}, [4, 32, 160, 640]),
    "A361149": ([f"hypercube:{n}" for n in range(1, 6)], {}, [0, 1, 10, 224, 22176]),
    "A361171": ([f"king:{n}x{n}" for n in range(2, 9)], HOLES, [0, 1, 13, 197, 4729, 156806, 7035482]),
    "A361183": ([f"mycielski:{n}" for n in range(2, 7)], HOLES, [0, 1, 46, 1152, 35698]),
    "A361184": ([f"queens:{n}x{n}" for n in range(2, 7)], HOLES, [0, 12, 228, 2120, 21004]),
    "A361186": ([f"halved:{n}" for n in range(3, 7)], HOLES, [0, 6, 252, 14904]),
    "A361187": ([f"folded:{n}" for n in range(3, 7)], HOLES, [0, 36, 312, 20264]),
    "A361188": ([f"complement:queens:{n}x{n}" for n in range(3, 7)], ODD_HOLES, [0, 48, 696, 4424]),
}
"""Terms of sequences of the OEIS, each with the graphs and the bounds of its cycles."""


@pytest.mark.parametrize("sequence", PUBLISHED)
def test_published_sequences(sequence: str) -> None:
    specs, bounds, terms = PUBLISHED[sequence]
    assert [count_cycles(generate(spec), **bounds).total for spec in specs] == terms


LONGEST = {
    "A165143": ([f"knight:{n}x{n}" for n in range(3, 7)], [8, 10, 16, 20]),
    "A000937": ([f"hypercube:{n}" for n in range(2, 6)], [4, 6, 8, 14]),
    "A358356": ([f"halved:{n}" for n in range(3, 8)], [3, 4, 5, 8, 12]),
    "A358358": ([f"folded:{n}" for n in range(3, 7)], [3, 4, 6, 12]),
}


@pytest.mark.parametrize("sequence", LONGEST)
def test_published_lengths_of_longest_cycles(sequence: str) -> None:
    specs, lengths = LONGEST[sequence]
    assert [longest_cycle(generate(spec)).length for spec in specs] == lengths


# Grid 9x10 has 668 million cycles; that its size is right is checked where graphs are generated.
@pytest.mark.parametrize("known", each([one for one in KNOWN if one.graph != "grid:9x10"]))
def test_counts_by_length(known: Known, arch: str) -> None:
    check_counts(known, generate(known.graph), arch)


@pytest.mark.parametrize("known", each([one for one in KNOWN if one.graph in FRONTIERS]))
@pytest.mark.slow_on("vulkan")
def test_the_paper_s_frontier(known: Known, arch: str) -> None:
    check_frontier(known, generate(known.graph), arch)


@pytest.mark.slow
def test_the_paper_s_frontier_of_grid_7x10(arch: str) -> None:
    """The paper's Grid 7x10 has too many paths for the sequential algorithm in Python: their number is known."""
    if arch == "vulkan":
        pytest.skip("140 million paths are too many for a software device")
    (known,) = (one for one in KNOWN if one.graph == "grid:7x10")
    counts = count_cycles(generate(known.graph), arch=arch, expansion="paper")
    assert (sum(counts.frontier.values()), max(counts.frontier.values())) == (known.paths, known.largest_frontier)
    assert counts.total == known.total
