"""How many ranges of an estimate hold the truth, and how far the middles are from it.

``python tests/coverage_of_estimates.py [GRAPH ...]`` counts the cycles of each graph, then estimates them again and
again, with other random numbers each time.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, field
from statistics import median

from chordless.graphs.load import load_graph
from chordless.graphs.vertex_names import restriction_named

from kernels_ti import Options, count_cycles
from kernels_ti.blocks.search_space import SearchSpace
from kernels_ti.estimate.estimate import Estimator


@dataclass
class Case:
    """A search to estimate, and what came of it: the number of cycles, and one entry for each estimate."""

    graph: str
    max_length: int | None = None
    through: tuple[str, ...] = ()
    cycles: int = 0
    held: list[bool] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    high_over_low: list[float] = field(default_factory=list)

    def measure(self, seeds: int, seconds: float) -> None:
        """Count, then estimate with one seed after another."""
        graph = load_graph(self.graph).graph
        through, _ = restriction_named(graph, self.through, (), ())
        names = [graph.names[v] for v in through]
        self.cycles = count_cycles(graph, max_length=self.max_length, through=names).total
        space = SearchSpace(graph, Options(max_length=self.max_length, through=through))
        for seed in range(seeds):
            estimator = Estimator(space, seed=seed)
            estimator.probe(seconds)
            known = estimator.estimate()
            self.held.append(known.total.low <= self.cycles <= known.total.high)
            self.errors.append(abs(known.total.estimate - self.cycles) / max(self.cycles, 1))
            self.high_over_low.append(known.total.high / max(known.total.low, 1.0))


CASES = (
    *(Case(f"grid:{size}") for size in ("6x9", "6x10", "7x8", "7x9", "5x13", "6x11")),
    *(Case(f"gnp:{n},{p},{seed}") for n, p in ((60, 0.1), (50, 0.15), (70, 0.08)) for seed in (1, 2, 3)),
    *(Case(f"planar:{n},{seed}") for n in (100, 120) for seed in (1, 2)),
    *(Case(f"planar:400,{seed}", 14) for seed in (1, 2, 3)),
    *(Case(f"planar:900,{seed}", 22, ("500",)) for seed in (1, 2, 3)),
    Case("king:7x7"),
    Case("king:6x8"),
    Case("grid:14x14", 20),
    Case("planar:900,4", 22, ("500",)),
    Case("gnp:200,0.03,1", 12),
)


def main() -> None:
    """Measure, print a line for each search and one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help="files or specs (default: 25 searches)")
    parser.add_argument("--max-length", type=int, help="of each GRAPH: cycles of up to so many vertices")
    parser.add_argument("--through", action="append", default=[], help="of each GRAPH: only cycles through this vertex")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.5, help="time of each estimate")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    cases = [Case(graph, given.max_length, tuple(given.through)) for graph in given.graphs] or CASES
    for case in cases:
        case.measure(given.seeds, given.seconds)
        of = f"{sum(case.held)} of {len(case.held)} ranges hold {case.cycles:,}"
        print(f"{case.graph}: {of}; error {median(case.errors):.1%}, high/low {median(case.high_over_low):.2f}")
    held, errors = [one for case in cases for one in case.held], [one for case in cases for one in case.errors]
    print(
        f"{sum(held) / len(held):.1%} of {len(held):,} ranges hold the truth; "
        f"the median error of the middle is {median(errors):.1%}"
    )
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump([asdict(case) for case in cases], file)


if __name__ == "__main__":
    main()
