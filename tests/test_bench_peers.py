"""``chordless bench peers``: other programs, good and bad. No time is looked at but by its form."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from benches import REFERENCE, TIMES, no_nauty, probed_once, python, report, run, script
from chordless import generate
from chordless.bench import peers, programs
from chordless.bench.measure import Outcome, Series, count_once, take_turns
from chordless.bench.programs import BenchGraph
from patience import PATIENCE

from kernels_ti import DeviceError, GraphError
from kernels_ti.taichi_door.libraries import LIBRARIES, library

__all__ = ["no_nauty", "probed_once"]


@pytest.mark.usefixtures("no_nauty")
@pytest.mark.parametrize(("arch", "repeat"), [("reference", 2), ("cpu", 1)])
@pytest.mark.slow
def test_peers_agree(capsys, arch, repeat):
    exit_code, result, errors = report(
        capsys, "peers", "wheel:8", "--arch", arch, "--repeat", str(repeat), "--threads", "2",
        "--program", "all=" + python("print('found 9')"),
        "--program", "longer=" + python("print('sec 0.5 cycles 1')"),
        "--program", "both=" + python("print('n 9 c3 8 clc 1 sec 0.25')"),
    )  # fmt: skip
    assert (exit_code, result["problems"], errors) == (0, [], "1/1  wheel:8\n")
    (row,) = result["rows"]
    assert (row["triangles"], row["chordless_cycles"], row["by_length"]) == (8, 1, {"3": 8, "8": 1})
    by_name = {one["name"]: one for one in row["programs"]}
    on_cpu = ["chordless, 2 threads", "chordless, 1 thread", "chordless, boundary"]
    ours = on_cpu if arch == "cpu" else ["chordless, reference"]
    assert list(by_name) == [*ours, "networkx", "nauty-countg", "all", "longer", "both"]
    assert all(set(one) == TIMES | {"ratio", "agree"} for one in row["programs"])
    assert (by_name["nauty-countg"]["stopped"], by_name["nauty-countg"]["agree"]) == ("not installed", None)
    assert all(by_name[name]["agree"] is True for name in (*ours[1:], "networkx", "all", "longer", "both"))
    assert (by_name["longer"]["seconds"], by_name["both"]["median"]) == ([0.5] * repeat, 0.25)
    assert all(len(by_name[name]["seconds"]) == repeat for name in (*ours, "networkx", "all"))
    first = by_name[ours[0]]["median"]
    assert by_name["both"]["ratio"] == pytest.approx(0.25 / first, rel=0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("no_nauty")
def test_a_graph_is_simplified_where_it_is_asked_for(tmp_path):
    path = tmp_path / "loop.txt"
    path.write_text("1 2\n2 3\n3 1\n3 3\n")
    asked = ("peers", str(path), "--repeat", "1", *REFERENCE)
    with pytest.raises(GraphError, match="simplify=True drops them"):
        run(*asked)
    assert run(*asked, "--simplify") == 0


@pytest.mark.slow
@pytest.mark.usefixtures("no_nauty")
@pytest.mark.parametrize("said", ["10", "clc 2", "c3 7 clc 1", "0"])
def test_a_wrong_count_is_exit_1(capsys, said):
    assert run("peers", "wheel:8", *REFERENCE, "--program", "fake=" + python(f"print('{said}')")) == 1
    printed = capsys.readouterr()
    (line,) = [line for line in printed.out.splitlines() if "fake" in line]
    assert line.split()[-1] == "NO"
    (line,) = [line for line in printed.err.splitlines() if "error" in line]
    assert line.startswith("chordless: error: wheel:8: the counts disagree: fake found")


@pytest.mark.slow
@pytest.mark.usefixtures("no_nauty")
def test_a_program_that_takes_too_long_is_killed_with_its_children(capsys, tmp_path):
    code = (
        "import os, sys, time\n"
        "child = os.fork()\n"
        f"open({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "time.sleep(600)"
    )
    slow = script(tmp_path, "slow", code)
    exit_code, result, _ = report(
        capsys, "peers", "cycle:5", "--arch", "reference", "--repeat", "3", "--timeout", "5",
        "--program", f"slow={slow} {{el}}",
    )  # fmt: skip
    one = result["rows"][0]["programs"][-1]
    assert (exit_code, one["stopped"], one["seconds"], one["agree"]) == (0, "> 5 s", [], None)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(is_alive(pid) for pid in pids):
        time.sleep(0.05)
    assert not any(is_alive(pid) for pid in pids)


def is_alive(pid: str) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.usefixtures("no_nauty")
def test_our_own_search_is_stopped_in_time(capsys):
    exit_code, result, _ = report(capsys, "peers", "grid:6x10", *REFERENCE, "--timeout", "0.2")
    (row,) = result["rows"]
    assert (exit_code, row["programs"][0]["stopped"], row["chordless_cycles"]) == (0, "> 0.2 s", None)
    assert all(one["ratio"] is one["agree"] is None for one in row["programs"])


@pytest.mark.usefixtures("no_nauty")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('out of luck')", "fake: ended with exit code 1: out of luck"),
        ("print('none at all')", "fake: printed no count"),
        (
            "import os; p = '{0}'; n = os.path.exists(p); open(p, 'w'); print(1 + n)",
            "fake: counted {'cycles': 1}, and then {'cycles': 2}",
        ),
    ],
)
@pytest.mark.slow
def test_a_program_that_fails_is_exit_1(capsys, tmp_path, code, words):
    command = python(code.replace("{0}", str(tmp_path / "seen")))
    argv = ["peers", "cycle:5", "--arch", "reference", "--repeat", "2", "--program", f"fake={command}"]
    exit_code, result, errors = report(capsys, *argv)
    assert (exit_code, result["problems"]) == (1, [f"cycle:5: {words}"])
    assert result["rows"][0]["programs"][-1]["stopped"] == "failed"
    assert errors.endswith(f"chordless: error: cycle:5: {words}\n")


@pytest.mark.slow
def test_nauty_is_called_where_it_can_be(capsys, tmp_path, monkeypatch):
    said = "          1 graphs : induced cycles=1\\n 1 graphs altogether; cpu=0.21 sec"
    # Its name on Debian; the other one is looked for first.
    script(tmp_path, "nauty-countg", f"import sys; assert sys.argv[1:3] == ['--H', '-q']; print('{said}')")
    monkeypatch.setenv("PATH", str(tmp_path))
    exit_code, result, _ = report(capsys, "peers", "cycle:64", "cycle:65", *REFERENCE)
    small, large = (row["programs"][-1] for row in result["rows"])
    assert (exit_code, small["name"], small["agree"], small["count"]) == (0, "nauty-countg", True, {"cycles": 1})
    assert (large["stopped"], large["agree"], large["seconds"]) == ("n > 64", None, [])


@pytest.mark.usefixtures("no_nauty")
def test_every_program_gets_the_same_graph(capsys, tmp_path):
    graph = tmp_path / "named.txt"
    graph.write_text("b a\na d\nd c\nc b\nc e\n")
    forms = {"el": "5 5\n", "file": "# n=5 m=5\n", "g6": "D"}
    argv = []
    for form, start in forms.items():
        code = f"import sys; t = open(sys.argv[1]).read(); assert t.startswith({start!r}); print(1)"
        argv += ["--program", f"{form}={python(code).replace('{el}', '{' + form + '}')}"]
    assert run("peers", str(graph), *REFERENCE, *argv) == 0
    assert capsys.readouterr().out.count("yes") == 4


@pytest.mark.usefixtures("no_nauty")
@pytest.mark.slow
def test_the_table_in_markdown(capsys):
    fake = "fake=" + python("print('cycles 1 sec 2')")
    assert run("peers", "cycle:5", "complete:4", *REFERENCE, "--program", fake, "--markdown") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| graph | cycles | program | runs | median, s | fastest | slowest | ratio | agree |"
    assert lines[1] == "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    assert lines[2].startswith("| cycle:5 | 1 | chordless, reference | 1 | ")
    assert lines[4] == "|  |  | nauty-countg | - | not installed | - | - | - | - |"
    assert lines[5].startswith("|  |  | fake | 1 | 2.00 | 2.00 | 2.00 | ")
    assert lines[5].endswith(" | yes |")
    assert lines[9].startswith("|  |  | fake | 1 | 2.00 | ")
    assert lines[9].endswith(" | NO |")
    assert lines[11].startswith("- ")


@pytest.mark.usefixtures("no_nauty")
@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_was_measured(capsys, tmp_path, number, exit_code):
    code = f"import os, time; os.kill({os.getpid()}, {int(number)}); time.sleep(600)"
    saved = tmp_path / "peers.json"
    argv = ["cycle:5", "cycle:6", *REFERENCE, "--program", f"fake={python(code)}", "--json", str(saved)]
    assert run("peers", *argv) == exit_code
    printed = capsys.readouterr()
    assert "interrupted, not complete" in " ".join(printed.out.split())
    result = json.loads(saved.read_text())
    assert (result["complete"], [row["graph"] for row in result["rows"]]) == (False, ["cycle:5"])
    ours, networkx, _, fake = result["rows"][0]["programs"]
    assert (len(ours["seconds"]), len(networkx["seconds"]), fake["seconds"]) == (1, 1, [])


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        ("n 60 m 104 c3 5 clc 800139 sec 0.024192", {"c3": 5, "clc": 800139}),
        ("clc: 12", {"clc": 12}),
        ("clc=1\nclc=2", {"clc": 2}),
        ("found 749 cycles in 0.25", {"cycles": 749}),
        ("749\nsec 12", {"cycles": 749}),
        ("sec: 0.1 seconds = 3 cycles 7", {"cycles": 7}),
        ("1.5 2e3 -4 x5", {}),
        ("", {}),
    ],
)
def test_the_count_in_what_a_program_prints(printed, count):
    assert programs.read_count(printed) == count


def test_programs_are_run_in_turns():
    order: list[str] = []

    def runner(name, seconds):
        return lambda: (order.append(name), Outcome(seconds, count={"cycles": 1}))[1]

    series = [Series("a", "", runner("a", 1.0)), Series("b", "", runner("b", 2.0), patience=3.5)]
    series.append(Series("c", "", runner("c", 1.0), stopped="not installed"))
    take_turns(series, 3)
    assert order == ["a", "b", "a", "b", "a"]
    assert [one.median for one in series] == [1.0, 2.0, None]


@pytest.mark.parametrize(("said", "exit_code"), [("c3 100 clc 1", 0), ("101", 0), ("c3 99 clc 1", 1)])
def test_another_program_can_be_the_sequential_one_of_table1(capsys, said, exit_code):
    program = "mine=" + python(f"print('{said} sec 0.5')")
    ended, result, _ = report(capsys, "table1", *REFERENCE, "--rows", "wheel_100", "--sequential", program)
    assert ended == exit_code
    [row] = result["rows"]
    assert result["settings"]["sequential"] == "mine"
    assert row["agree"] is True
    assert row["here"]["times"][0]["seconds"] == [0.5]
    assert row["here"]["by_length"] == {"3": 100, "100": 1}
    assert bool(result["problems"]) == bool(exit_code)


def test_the_fork_of_taichi_is_measured_beside_it_where_both_are_here(monkeypatch):
    """The engine is told which library compiles; one that is not installed is an error, no other in its place."""
    other = next(each for each in LIBRARIES if each is not library())
    monkeypatch.setattr(peers, "others", lambda: [other])
    several, one, forked, boundary = peers.our_programs("cpu", 2, {"arch": "cpu", "cores": 2})
    assert (several.library, one.library, boundary.library) == (None, None, None)
    assert (forked.name, forked.threads, forked.library) == (f"{several.name}, {other.title}", 2, other.package)
    graph = BenchGraph("cycle:5", generate("cycle:5"), "cycle.txt")
    assert peers._our_command(graph, forked).startswith(f"CHORDLESS_TAICHI={other.package} chordless count cycle:5")
    with pytest.raises(DeviceError, match="CHORDLESS_TAICHI is taichi or quadrants, not 'tachi'"):
        count_once("grid:4x4", "cpu", 1, library="tachi")
