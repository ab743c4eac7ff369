"""The rates of this machine: measured once, kept, and made again where the file is of no use."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from chordless import generate
from chordless.commands.estimate_boundary import AlongBoundary, boundary_lines, boundary_object, counts_along
from chordless.engine import rates
from chordless.engine.rates import BoundaryRates, Way, boundary_rates, known_rates, rates_path, ways_along
from chordless.protocol.events import DeviceReport

from kernels_ti import DeviceError
from kernels_ti.boundary.orders.plan import plan_of

USUAL = BoundaryRates("a device", 1 << 30, 2.0, 0.5, 7.0, 9.0)


@pytest.fixture(autouse=True)
def _cache_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(rates, "_GRAPHS", dict.fromkeys(rates._GRAPHS, ("grid:5x5", "grid:5x5")))


def kept_as(**entries):
    """Write entries as the rates of Python and the CPU."""
    boundary_rates("reference")
    kept = json.loads(rates_path().read_text())
    for arch in ("reference", "cpu"):
        kept["rates"][arch] = {**USUAL.__dict__, **entries}
    rates_path().write_text(json.dumps(kept))
    return kept


def test_rates_are_measured_once_and_kept():
    assert known_rates("reference") is None
    first = boundary_rates("reference")
    assert 0 < first.total < 1
    assert 0 < first.by_length < 1
    assert 0 < first.step < 1
    assert boundary_rates("reference") == known_rates("reference") == first
    assert known_rates("cpu") is None


@pytest.mark.slow
def test_the_kernels_of_a_device_are_measured_beside_python():
    python = boundary_rates("reference")
    kernels = boundary_rates("cpu", threads=1)
    assert kernels.total > 0
    assert kernels.start > python.start
    assert kernels.memory > 0
    assert (known_rates("reference"), known_rates("cpu", threads=1)) == (python, kernels)
    assert known_rates("cpu") is None


@pytest.mark.parametrize(
    "change",
    [
        {"version": 0},
        {"machine": "another"},
        {"program": "0.0"},
        {"library": "x"},
        {"rates": None},
        {"rates": {"reference": 3}},
    ],
)
def test_rates_of_another_machine_or_a_damaged_file_are_made_again(change):
    kept = kept_as()
    assert boundary_rates("reference") == USUAL
    rates_path().write_text(json.dumps({**kept, **change}))
    made = boundary_rates("reference")
    assert made != USUAL
    assert boundary_rates("reference") == made


@pytest.mark.parametrize(
    "entry", [{"total": "fast"}, {"by_length": -1.0}, {"total": None}, {"total": 0.0}, {"device": 3}, {"more": 1}]
)
def test_a_damaged_entry_is_measured_again(entry):
    kept_as(**entry)
    assert known_rates("reference") is None
    assert boundary_rates("reference").total < 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"{}", b"[" * 200_000])
def test_a_damaged_file_is_made_again(content):
    boundary_rates("reference")
    rates_path().write_bytes(content)
    made = boundary_rates("reference")
    assert boundary_rates("reference") == made


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "chordless").write_text("a file in the place of the folder")
    assert boundary_rates("reference").total > 0


def test_seconds_are_those_of_the_start_of_the_steps_and_of_the_states():
    plan = plan_of(generate("grid:4x4"))
    assert USUAL.seconds(plan) == pytest.approx(2.0 + 0.5 * 16 + 7.0 * plan.states)
    assert USUAL.seconds(plan, longest=16) == pytest.approx(2.0 + 0.5 * 16 + 9.0 * plan.states)


def test_the_ways_are_those_of_the_device_that_would_be_used(monkeypatch):
    large, small = plan_of(generate("grid:13x13"), order=range(169)), plan_of(generate("grid:4x4"))
    monkeypatch.setattr("kernels_ti.boundary.count.cores", lambda: 64)
    monkeypatch.setattr(rates, "driver_is_here", lambda: True)
    monkeypatch.setattr(rates, "cuda_is_here", lambda: True)
    assert ways_along(small, "auto") == [Way("auto", "reference", "reference")]
    auto, cuda = ways_along(large, "auto")
    assert (auto.arch, auto.total) == ("auto", "cpu")
    assert cuda == Way("cuda", "cuda", "cuda")
    assert [way.total for way in ways_along(large, "cpu")] == ["cpu"]


def test_a_count_in_kernels_is_told_with_their_rate_and_the_memory_of_the_device(monkeypatch):
    kept_as()
    # The free memory of a machine is another one each time.
    monkeypatch.setattr("kernels_ti.device.memory._free_host_memory", lambda: 8 << 30)
    plan = plan_of(generate("grid:13x13"), order=range(169))
    way = Way("cpu", "cpu", "reference")
    monkeypatch.setattr(rates, "ways_along", lambda *_, **__: [way, replace(way, total="reference")])
    kernels, python = counts_along(plan, 169, "cpu", None)
    assert kernels.device == "a device"
    assert kernels.memory == python.memory > 1 << 20
    assert kernels.seconds == pytest.approx(USUAL.seconds(plan))
    assert python.seconds_by_length == pytest.approx(USUAL.seconds(plan, longest=169))
    assert python.device == "Python"
    assert 0 < kernels.bytes < kernels.bytes_by_length
    found = boundary_object(plan, [kernels, python])
    assert found["seconds"] == kernels.seconds
    assert [each["arch"] for each in found["devices"]] == ["cpu", "cpu"]
    cheap = [replace(each, seconds=3.0, seconds_by_length=4.0) for each in (kernels, python)]
    lines = list(boundary_lines(plan, cheap, None))
    assert lines[0].endswith("a boundary of 14 vertices")
    assert lines[1].startswith("    --arch cpu (a device), ")
    assert lines[1].endswith(" GiB for its states")
    assert lines[2].startswith("      by length     4 s, ")
    assert lines[3].startswith("      --total-only  3 s, ")
    assert lines[4].startswith("    in Python, ")
    without = [line for line in lines if "--total-only" not in line]
    assert list(boundary_lines(plan, cheap, None, totals=False)) == without
    assert list(boundary_lines(plan, cheap, 1.0)) == []
    too_long = [replace(kernels, seconds=1e9)]
    settled = replace(plan, orders=[replace(order, settled=True) for order in plan.orders])
    first = replace(plan, orders=[replace(order, settled=False) for order in plan.orders])
    boundary = "out of reach too: {} a boundary of 14 vertices"
    assert next(boundary_lines(settled, too_long, None)).endswith("is " + boundary.format("the graph has"))
    assert next(boundary_lines(first, too_long, None)).endswith("seems " + boundary.format("the best order so far has"))
    assert max(map(len, lines)) <= 80
    # What `count` chooses by itself: a search takes a second or more, and the boundary a tenth of that.
    taken = "  chordless count takes this method by itself; --method search meets every cycle"
    # The time of a search that could not be estimated is not known to be long.
    unless = "  chordless count takes this method, unless a search turns out to be short"
    assert [lines[-1], list(boundary_lines(plan, cheap, 40.0))[-1]] == [unless, taken]
    assert taken not in list(boundary_lines(plan, cheap, 39.0))
    short = [replace(each, seconds=0.05, seconds_by_length=0.09) for each in cheap]
    assert taken in list(boundary_lines(plan, short, 1.1))
    assert taken not in list(boundary_lines(plan, short, 0.99))
    assert unless not in list(boundary_lines(plan, [replace(each, fits_by_length=False) for each in cheap], None))


def said_of(*, is_settled=True, **more):
    """Return what is said of a count on one device, without its last line."""
    plan = plan_of(generate("grid:13x13"), order=range(169))
    plan = replace(plan, orders=[replace(order, settled=is_settled) for order in plan.orders])
    count = AlongBoundary("cuda", "a device", 8 << 30, 3.0, 4.0, 1 << 30, 7 << 30, **more)
    return list(boundary_lines(plan, [count], None))[:4]


def test_passes_and_what_does_not_fit_are_told():
    assert said_of(passes_by_length=1_033) == [
        "  --method boundary counts them without meeting each: a boundary of 14 vertices",
        "    --arch cuda (a device), 8.0 GiB for its states",
        "      by length     4 s in 1,033 passes, 7.0 GiB",
        "      --total-only  3 s, 1.0 GiB",
    ]
    some = said_of(fits_by_length=False)
    assert some[0].endswith("counts them without meeting each: a boundary of 14 vertices")
    assert some[2:] == [
        "      by length     does not fit into the memory here: it takes 7.0 GiB at least",
        "      --total-only  3 s, 1.0 GiB",
    ]
    none = said_of(fits=False, fits_by_length=False)
    assert none[0] == "  --method boundary cannot count them here: a boundary of 14 vertices"
    assert none[3] == "      --total-only  does not fit into the memory here: it takes 1.0 GiB at least"
    so_far = said_of(fits=False, fits_by_length=False, is_settled=False)
    assert so_far[0] == "  --method boundary may not count them here: so far a boundary of 14 vertices"
    assert so_far[1:] == none[1:]


def test_the_memory_that_is_allowed_decides_on_passes():
    kept_as()
    plan = plan_of(generate("grid:14x14"), order=range(196))
    (whole,) = counts_along(plan, 196, "cpu", None)
    (tight,) = counts_along(plan, 196, "cpu", None, 300 << 20)
    assert whole.passes_by_length == 1 < tight.passes_by_length
    assert tight.bytes_by_length < tight.memory < 300 << 20
    assert tight.seconds_by_length > whole.seconds_by_length
    found = boundary_object(plan, [tight])
    assert (found["fits_by_length"], found["passes_by_length"]) == (True, tight.passes_by_length)


def test_kernels_have_no_room_in_a_memory_with_which_their_count_is_refused():
    kept_as(total=1e-6, by_length=1e-6)
    plan = plan_of(generate("grid:13x13"), order=range(169))
    (kernels,), (python,) = (counts_along(plan, 169, arch, None, 150 << 20) for arch in ("cpu", "reference"))
    assert (kernels.memory, kernels.fits, kernels.fits_by_length) == (0, False, False)
    assert python.memory > 0
    heading, _, *lines = boundary_lines(plan, [kernels], None)
    assert heading.startswith("  --method boundary cannot count them here")
    assert [line[20:] for line in lines[:2]] == ["does not fit into the memory here: it takes 170 MiB at least"] * 2


@pytest.mark.parametrize(("driver", "ways"), [(True, 2), (False, 1)])
def test_where_the_rates_of_cuda_are_known_taichi_is_not_asked_for_it(driver, ways, monkeypatch):
    monkeypatch.setattr(rates, "known_rates", lambda *_, **__: USUAL)
    monkeypatch.setattr(rates, "driver_is_here", lambda: driver)
    monkeypatch.setattr(rates, "cuda_is_here", lambda: pytest.fail("asked"))
    assert len(ways_along(plan_of(generate("grid:13x13"), order=range(169)), "auto")) == ways


class Measuring:
    """An engine that has measured rates."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def answer(self, seconds):
        return DeviceReport(self.command.arch, True, "a device", rates=asdict(USUAL))


def test_the_count_in_python_is_told_before_rates_are_measured(monkeypatch, capsys):
    boundary_rates("reference")
    monkeypatch.setattr("chordless.commands.estimate_boundary.EngineProcess", Measuring)
    told = []

    def tell(counts):
        assert capsys.readouterr().err == ""
        told.extend(counts)

    found = counts_along(plan_of(generate("grid:13x13"), order=range(169)), 169, "cpu", None, tell_first=tell)
    assert [count.device for count in told] == ["Python"]
    assert [count.device for count in found] == ["a device"]
    said = "measuring how fast cpu counts along a boundary: once on this machine, some seconds\n"
    assert capsys.readouterr().err == said


def test_a_device_that_is_not_there_is_not_told():
    with pytest.raises(DeviceError):
        boundary_rates("cuda")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [("grid:12x12", 1, 1), ("king:9x9", 1, 1), ("torus:8x8", 1.1, 1.5), ("gnp:60,0.08,1", 2, 3), ("fibonacci:9", 3, 5)],
)
def test_where_paths_must_cross_more_states_are_expected(spec, least, most):
    """Counts met 1.3, 1.6, 1.2, 2.3 and 9.4 times as many as the costs of the order."""
    plan = plan_of(generate(spec))
    assert least <= plan.states / plan.cost <= most
