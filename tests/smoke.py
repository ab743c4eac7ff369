"""Whether an installed package counts: ``python tests/smoke.py``, in any folder and without pytest."""

import sys

if __name__ == "__main__":
    import networkx as nx
    from chordless import count_cycles, enumerate_cycles

    petersen = nx.petersen_graph()
    for arch in ("reference", "cpu"):
        counted = dict(count_cycles(petersen, arch=arch).by_length)
        if counted != {5: 12, 6: 10}:
            sys.exit(f"the Petersen graph has 12 cycles of 5 vertices and 10 of 6, but {arch} counts {counted}")
    listed = {frozenset(cycle) for cycle in enumerate_cycles(petersen, arch="cpu")}
    if len(listed) != 22:
        sys.exit(f"22 cycles were expected, {len(listed)} were listed")
    print("22 chordless cycles of the Petersen graph, counted and listed")
