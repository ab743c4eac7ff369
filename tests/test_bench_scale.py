"""``chordless bench scale``: the same search on more and more workers, and its picture."""

from __future__ import annotations

import pytest
from benches import probed_once, report, run
from chordless.pictures.charts import parts_of, scale_chart
from oracles import grid

from kernels_ti import OptionError, count_cycles

__all__ = ["probed_once"]


def test_scale_says_which_numbers_of_workers_cannot_be():
    for wrong in (["--workers", "0,1"], ["--gpus", "0,1", "--workers", "4"]):
        with pytest.raises(OptionError, match="--workers"):
            run("scale", *wrong)


@pytest.mark.slow
def test_scale_compares_numbers_of_workers(capsys, tmp_path):
    picture = tmp_path / "scale.svg"
    exit_code, result, _ = report(
        capsys, "scale", "grid:6x7", "--workers", "1,2", "--repeat", "1", "--arch", "cpu", "--plot", str(picture)
    )
    assert exit_code == 0
    assert picture.read_text().startswith("<?xml")
    (row,) = result["rows"]
    assert [each["workers"] for each in row["workers"]] == [1, 2]
    for each in row["workers"]:
        assert each["count"] == {"cycles": count_cycles(grid(6, 7), arch="cpu").total}
        (one,) = each["runs"]
        assert len(one["devices"]) == each["workers"]
        assert min(one["search"], one["setup"], one["busy"], one["bytes"], one["device"], one["kernels"]) > 0
        assert one["device"] + one["kernels"] < one["setup"]
        assert one["busy"] + one["transfer"] + one["idle"] == pytest.approx(1.0, abs=0.5)


def test_a_picture_of_another_format_is_refused_before_anything_is_measured():
    with pytest.raises(OptionError, match=r"--plot scale.jpg: a picture ends in \.svg, \.png, \.pdf"):
        run("scale", "grid:4x4", "--plot", "scale.jpg")


def test_the_parts_of_the_time_add_up_to_the_whole():
    shares = {"busy": 0.9, "transfer": 0.04, "idle": 0.06}
    runs = [{"search": 10.0, "setup": 4.0, "device": 0.5, "kernels": 1.0, "other": 1.0, **shares}] * 3
    row = {"graph": "grid:9x10", "workers": [{"workers": 2, "runs": runs}]}
    parts = parts_of(runs)
    assert sum(parts.values()) == pytest.approx(15.0)
    assert (parts["start"], parts["transfer"]) == (2.5, pytest.approx(0.4))
    assert scale_chart([row, {"graph": "none", "workers": []}]).axes[0].containers
