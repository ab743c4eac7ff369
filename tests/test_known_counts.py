"""Every generated graph whose counts are known: Table 1 of the paper, and more."""

import pytest
from chordless import generate
from known import Known, check_counts, check_frontier, each, generated

from kernels_ti import count_cycles

KNOWN = generated()
FRONTIERS = {"cycle:100", "bipartite:8x8", "grid:4x10", "grid:5x6", "grid:6x6"}


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
