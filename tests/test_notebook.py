"""What a notebook shows of results: small tables of HTML, with the names of others as text."""

from fractions import Fraction
from xml.etree import ElementTree

import pytest
from chordless import (
    CycleCounts,
    Graph,
    collect_cycles,
    count_cycles,
    count_participation,
    count_paths,
    cycle_orbits,
    estimate_cycles,
    generate,
    longest_cycle,
    longest_path,
    participation,
)

from kernels_ti import BestCycle

HOUSE = Graph.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], names=["<a>", "b", "c", "d", "e"])


def shown(result):
    """Return the lines of text and the rows of the table that a notebook shows."""
    page = ElementTree.fromstring(f"<div>{result._repr_html_()}</div>")
    return [line.text for line in page.iter("p")], [
        ["".join(cell.itertext()) for cell in row] for row in page.iter("tr")
    ]


def test_counts():
    assert shown(count_cycles(HOUSE)) == (["2 chordless cycles"], [["length", "cycles"], ["3", "1"], ["4", "1"]])
    assert shown(count_paths(HOUSE, "<a>", "c")) == (["2 chordless paths"], [["length", "paths"], ["3", "2"]])
    assert shown(count_cycles(Graph.from_edges(2, [(0, 1)]))) == (["0 chordless cycles"], [])
    assert shown(CycleCounts({4: 1234}, {}, 1.0, complete=False)) == (
        ["1,234 chordless cycles", "not complete: there may be more"],
        [["length", "cycles"], ["4", "1,234"]],
    )


def test_an_estimate():
    assert shown(estimate_cycles(HOUSE)) == (["2, exact"], [["length", "count"], ["3", "1"], ["4", "1"]])


@pytest.mark.parametrize("count", [count_participation, participation])
def test_participation(count):
    lines, rows = shown(count(HOUSE))
    assert "5 vertices" in lines[0]
    assert ["vertex", "<a>", "2"] in rows
    assert ["edge", "<a>, b", "2"] in rows


def test_the_best():
    assert shown(longest_cycle(HOUSE)) == (
        ["1 chordless cycle of 4 vertices"],
        [["length", "vertices"], ["4", "<a>, b, c, d"]],
    )
    lines, rows = shown(longest_path(HOUSE, "e", "d", k=2))
    assert rows[0] == ["length", "vertices"]
    assert lines == [f"1 path of {len(longest_path(HOUSE, 'e', 'd').path)} vertices"]
    assert len(rows) == 3
    assert shown(longest_cycle(HOUSE, min_length=5)) == (["no chordless cycle"], [])
    half = BestCycle(["a", "b", "c"], Fraction(1, 2), 1, 0, 0, 0.0, complete=False)
    assert shown(half) == (
        ["1 chordless cycle of weight 1/2", "not complete: there may be better ones"],
        [["weight", "length", "vertices"], ["1/2", "3", "a, b, c"]],
    )


def test_many_cycles_and_orbits_show_the_first_ones():
    lines, rows = shown(collect_cycles(generate("grid:4x4")))
    assert len(rows) == 6
    assert lines[1].endswith("more cycles")
    pytest.importorskip("igraph")
    lines, rows = shown(cycle_orbits(generate("petersen")))
    assert lines == ["2 orbits of chordless cycles under 120 automorphisms"]
    assert [row[:2] for row in rows] == [["cycles", "length"], ["12", "5"], ["10", "6"]]
    assert all(row[2].count(",") == int(row[1]) - 1 for row in rows[1:])
