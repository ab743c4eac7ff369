"""The tutorial runs, from anywhere, and prints what it says."""

import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from patience import PATIENCE
from program import ENVIRONMENT

TUTORIAL = Path(__file__).parent.parent / "assets" / "tutorial.py"


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path):
    if not TUTORIAL.exists():
        pytest.skip("the checkout with its assets is not here")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", TUTORIAL],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    karate = nx.karate_club_graph()
    triangles = sum(nx.triangles(karate).values()) // 3
    total = sum(1 for _ in nx.chordless_cycles(karate))
    assert printed[1] == f"Karate club: {triangles} triangles and {total - triangles} holes, {total} in all"
    assert "The house is not chordal: a b c d" in printed
    assert printed[-1].startswith("a run directory, exported: 749 lines")
    assert list(tmp_path.iterdir()) == []
