"""Every graph whose counts are known: Table 1 of the paper, and the graphs beside it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from chordless.graphs.generators import generate
from chordless.graphs.load import load_graph
from conftest import DATA

from kernels_ti import Graph, count_cycles
from kernels_ti.reference import levels_of

GENERATED = {
    "C_100": "cycle:100",
    "Wheel_100": "wheel:100",
    "K_8_8": "bipartite:8x8",
    "K_50_50": "bipartite:50x50",
    "K_100_100": "bipartite:100x100",
    "hypercube_Q3": "hypercube:3",
    "hypercube_Q4": "hypercube:4",
    "hypercube_Q5": "hypercube:5",
    "C20_fullerene": "dodecahedral",
}
SLOW_PATHS = 10_000_000
MANY_CYCLES = {"cpu": 10**9, "cuda": 10**9, "vulkan": 100_000}
LEFT_OUT = {"Grid_9x10"}


def rows(name: str) -> list[Any]:
    """The rows of a file of known counts that are complete; slow ones are marked."""
    if not (DATA / name).exists():
        return [pytest.param({"name": "missing"}, marks=pytest.mark.skip(reason=f"no {DATA / name}"))]
    known = [
        row for row in json.loads((DATA / name).read_text()) if row["clc"] is not None and row["name"] not in LEFT_OUT
    ]
    return [
        pytest.param(row, id=row["name"], marks=[pytest.mark.slow] if row["clc"] > SLOW_PATHS else []) for row in known
    ]


def graph_of(row: dict[str, Any], data: Path) -> Graph:
    if row.get("derived") or row.get("file"):
        return load_graph(str(data / (row.get("derived") or row["file"]))).graph
    name = row["name"]
    if name.startswith("Grid_"):
        return generate(f"grid:{name.removeprefix('Grid_')}")
    return generate(GENERATED.get(name, name))


def test_all_rows_that_can_be_had_are_here() -> None:
    if not DATA.is_dir():
        pytest.skip(f"no folder {DATA}")
    assert len(rows("table1.json")) == 22
    assert len(rows("expected.json")) == 35


KNOWN = rows("table1.json") + rows("expected.json")


@pytest.mark.parametrize("row", KNOWN)
def test_counts_by_length(row: dict[str, Any], arch: str, data: Path) -> None:
    if row["clc"] > MANY_CYCLES[arch]:
        pytest.skip(f"{row['clc']:,} cycles are too many for a software device")
    graph = graph_of(row, data)
    assert (graph.n, graph.m, graph.max_degree) == (row["n"], row["m"], row["delta"])
    counts = count_cycles(graph, arch=arch)
    expected = {3: row["c3"]} if row["c3"] else {}
    expected |= {int(length): count for length, count in row["clc_by_length"].items()}
    assert counts.by_length == expected
    assert (counts.triangles, counts.chordless_cycles) == (row["c3"], row["clc"])


FRONTIERS = [
    "Everglades", "Mangrovedry", "SiouxFalls", "C_100", "K_8_8", "Grid_4x10", "Grid_5x6", "Grid_6x6",
    "ChicagoSketch_43", "Barcelona_60", "BerlinFriedrichshain_100", "dolphins", "ieee_case57",
]  # fmt: skip


@cache
def reference_frontier(name: str, data: Path) -> dict[int, int]:
    """|T_t| as the sequential algorithm meets it."""
    (row,) = (known.values[0] for known in KNOWN if known.values[0]["name"] == name)
    return dict(sorted(levels_of(graph_of(row, data)).paths.items()))


@pytest.mark.parametrize("row", [known for known in KNOWN if known.values[0]["name"] in FRONTIERS])
def test_the_paper_s_frontier(row: dict[str, Any], arch: str, data: Path) -> None:
    if arch == "vulkan" and row["paths_expanded"] > 200_000:
        pytest.skip(f"{row['paths_expanded']:,} paths are too many for a software device")
    counts = count_cycles(graph_of(row, data), arch=arch, expansion="paper")
    assert counts.frontier == reference_frontier(row["name"], data)
    assert sum(counts.frontier.values()) == row["paths_expanded"]
    assert max(counts.frontier.values()) == row["peak_T"]
    assert counts.chordless_cycles == row["clc"]


@pytest.mark.slow
def test_the_paper_s_frontier_of_grid_7x10(arch: str) -> None:
    if arch == "vulkan":
        pytest.skip("140 million paths are too many for a software device")
    counts = count_cycles(generate("grid:7x10"), arch=arch, expansion="paper")
    assert max(counts.frontier.values()) == 14_454_265
    assert counts.total == 8_136_453
