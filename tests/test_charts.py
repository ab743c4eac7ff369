"""The charts of the measurements show what the files beside them hold, and the page tells when each was made."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "assets" / "bench"
if not BENCH.exists():
    pytest.skip("the checkout with its assets is not here", allow_module_level=True)
PAGE = (ROOT / "assets" / "docs" / "measurements.md").read_text()
SHOWN = """
import json, charts
told = {}
for name, (measured, sources) in charts.CHARTS.items():
    names = {graph for seconds in measured().values() for graph in seconds}
    told[name] = [*sorted(names), *(charts.machine_and_date(charts.read(source)) for source in sources)]
print(json.dumps(told))
"""


def test_a_chart_names_its_graphs_its_machine_and_its_date():
    done = subprocess.run(
        [sys.executable, "-c", SHOWN], capture_output=True, text=True, cwd=ROOT / "assets", check=True
    )
    told = json.loads(done.stdout)
    assert len(told) > 3
    for name, texts in told.items():
        assert f"(../bench/{name}.svg)" in PAGE
        drawn = (BENCH / f"{name}.svg").read_text()
        assert [text for text in texts if text not in drawn] == [], "python assets/charts.py draws it anew"


def test_the_page_tells_the_date_of_each_file():
    dated = 0
    for line in PAGE.splitlines():
        parts = re.split(r"(\d{4}-\d\d-\d\d)", line)
        for date, text in zip(parts[1::2], parts[2::2], strict=True):
            for name in re.findall(r"\(\.\./bench/([\w-]+\.json)\)", text):
                assert json.loads((BENCH / name).read_text())["date"].startswith(date), name
                dated += 1
    assert dated > 5
