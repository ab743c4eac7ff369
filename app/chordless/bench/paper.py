"""Table 1 of the paper: its figures and their graphs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperFigures:
    """The printed cells of a row. Times are in milliseconds; `total` adds the transfer of all cycles to the host."""

    n: int
    m: int
    max_degree: int  # Delta
    triangles: int  # C3
    chordless_cycles: int  # #clc: cycles of four or more vertices
    sequential: float  # T_seq
    processing: float  # T_par-proc
    total: float  # T_par-total
    speedup: float  # T_seq / T_par-total


@dataclass(frozen=True)
class PaperRow:
    """A row of the table, and the source of its graph."""

    name: str
    figures: PaperFigures | None  # None for a row of question marks
    spec: str | None = None  # Of a graph that can be generated
    # Of any other graph: a graph (``.txt``), or a food web (``.net``), whose niche overlap graph is searched
    file: str | None = None
    note: str | None = None


def _web(name: str, *cells: float) -> PaperRow:
    return PaperRow(name, _figures(*cells), file=f"{name}.net")


def _made(name: str, spec: str, *cells: float) -> PaperRow:
    return PaperRow(name, _figures(*cells), spec=spec)


def _figures(*cells: float) -> PaperFigures:
    n, m, max_degree, triangles, chordless_cycles = (int(cell) for cell in cells[:5])
    return PaperFigures(n, m, max_degree, triangles, chordless_cycles, *cells[5:])


ROWS: tuple[PaperRow, ...] = (
    _web("CrystalD", 24, 86, 14, 293, 0, 0.333, 0.182, 0.622, 0.536),
    _web("ChesUpper", 37, 85, 15, 167, 0, 0.370, 0.160, 0.656, 0.564),
    _web("Narragan", 35, 168, 22, 586, 0, 0.548, 0.197, 0.709, 0.773),
    _web("Chesapeake", 39, 90, 11, 157, 0, 0.150, 0.188, 0.700, 0.214),
    _web("Michigan", 39, 175, 27, 587, 0, 0.614, 0.197, 0.698, 0.879),
    _web("Mondego", 46, 206, 24, 886, 0, 0.725, 0.207, 0.773, 0.938),
    _web("Cypwet", 71, 842, 46, 8946, 0, 6.417, 0.258, 0.892, 7.196),
    _web("Everglades", 69, 1214, 56, 15627, 710, 12.407, 0.388, 1.478, 8.395),
    _web("Mangrovedry", 97, 2132, 80, 30659, 27426, 102.475, 1.822, 6.510, 15.741),
    _web("Floridabay", 128, 3249, 98, 62389, 85976, 366.495, 2.518, 15.095, 24.279),
    PaperRow(
        "Goiania",
        PaperFigures(43, 75, 4, 5, 9311, 39.594, 0.216, 3.081, 12.849),
        note="a city's streets that were never published",
    ),
    PaperRow(
        "SiouxFalls",
        PaperFigures(24, 76, 5, 2, 176, 1.339, 1.138, 1.812, 0.739),
        file="SiouxFalls.txt",
        note="the paper's 76 are directed links; they join 38 pairs of vertices",
    ),
    PaperRow("???", None, note="a city without a name or a figure in the paper"),
    _made("C_100", "cycle:100", 100, 100, 2, 0, 1, 0.149, 0.165, 0.770, 0.193),
    _made("Wheel_100", "wheel:100", 101, 200, 100, 100, 1, 0.225, 0.778, 1.229, 0.183),
    _made("K_8_8", "bipartite:8x8", 16, 64, 8, 0, 784, 0.473, 0.197, 0.599, 0.790),
    _made("K_50_50", "bipartite:50x50", 100, 2500, 50, 0, 1500625, 600.661, 4.867, 10.391, 57.805),
    _made("Grid_4x10", "grid:4x10", 40, 66, 4, 0, 1823, 15.430, 0.185, 1.993, 7.742),
    _made("Grid_5x6", "grid:5x6", 30, 49, 4, 0, 749, 2.610, 0.167, 1.249, 2.090),
    _made("Grid_5x10", "grid:5x10", 50, 85, 4, 0, 52620, 199.132, 1.982, 12.718, 15.658),
    _made("Grid_6x6", "grid:6x6", 36, 60, 4, 0, 3436, 7.889, 0.203, 1.570, 5.025),
    _made("Grid_6x10", "grid:6x10", 60, 104, 4, 0, 800139, 2906.009, 6.284, 18.989, 153.034),
    _made("Grid_7x10", "grid:7x10", 70, 123, 4, 0, 8136453, 36955.470, 54.840, 286.212, 129.119),
    _made("Grid_8x10", "grid:8x10", 80, 142, 4, 0, 71535910, 427091.020, 1655.147, 8697.081, 49.107),
)
