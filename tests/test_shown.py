"""Texts of others on a terminal and elsewhere."""

import argparse
import io
import os
from types import SimpleNamespace

import pytest
from chordless.bench.measure import Column
from chordless.bench.report import Report
from chordless.cli import main
from chordless.commands import bench, info
from chordless.protocol.events import DeviceReport
from chordless.words.shown import LONGEST_LINE, error_line, on_terminal, shortened, visible
from program import ENVIRONMENT, REFERENCE, command

from kernels_ti import Graph, GraphError, OptionError

NAME = "a\x1b[31mb"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Ål 1-2", "Ål 1-2"),
        ("\x1b]0;x\x07", "^[]0;x^G"),
        ("a\0b\nc\td\x7f", "a^@b^Jc^Id^?"),
        ("\x9b31m", "M-^[31m"),
        ("\u202etxt", "\\u202etxt"),
        ("\udcff", "\\xff"),
    ],
)
def test_controls_are_written_out_on_a_terminal_alone(text, shown):
    assert visible(text) == on_terminal(text, Terminal()) == shown
    assert on_terminal(text, io.StringIO()) == text


def test_an_error_line_has_a_limit():
    name = "x" * 9000
    line = error_line(f"{name}: no such file;\n did you mean grid?", io.StringIO())
    assert len(line) < LONGEST_LINE
    assert line.endswith("xx: no such file; did you mean grid?")
    assert "xx ... xx" in line
    assert len(shortened("word " * 900)) == LONGEST_LINE
    assert shortened("short") == "short"


def test_the_program_shortens_what_it_quotes(capsys):
    assert main(["count", "x" * 9000]) == 2
    said = capsys.readouterr().err
    assert len(said) < LONGEST_LINE + 50
    assert "no such file" in said


def on_a_terminal(*arguments):
    """Return what the program writes where standard output and standard error are a terminal."""
    import pty
    import subprocess

    leader, follower = pty.openpty()
    process = subprocess.Popen(command(*arguments), stdout=follower, stderr=follower, env=ENVIRONMENT)
    os.close(follower)
    said = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        said += piece
    process.wait()
    os.close(leader)
    return said.decode()


@pytest.mark.slow
def test_names_of_vertices_and_files_do_not_reach_the_terminal_as_orders(tmp_path, capsys):
    path = tmp_path / "g\x1b[2J.txt"
    path.write_text(f"{NAME} b\nb c\nc d\nd {NAME}\n")
    web = tmp_path / "w\x1b[31mb.net"
    web.write_text(f'*Vertices 3\n1 "{NAME}"\n2 "b"\n3 "c"\n*Arcs\n1 2\n1 3\n')
    for arguments in (
        ("overlap", web, "--types", "none"),
        ("overlap", web, web, "--types", "none"),
        ("batch", path, "--format", "csv", *REFERENCE, "-q"),
        ("list", path, *REFERENCE, "-q"),
        ("first", path),
        ("count", path, *REFERENCE, "--per-vertex", "-q"),
        ("count", f"{path}x"),
    ):
        said = on_a_terminal(*arguments)
        own = ("\x1b[1m", "\x1b[2m", "\x1b[0m", "\x1b[K")
        for sequence in own:
            said = said.replace(sequence, "")
        assert "\x1b" not in said, arguments
        assert any(name in said for name in ("a^[[31mb", "g^[[2J.txt", "w^[[31mb.net")), arguments
    assert main(["first", str(path)]) == 0
    assert NAME in capsys.readouterr().out


@pytest.mark.slow
def test_the_dashboard_draws_no_orders():
    import asyncio

    from chordless.tui.app import ChordlessApp
    from chordless.tui.settings import Settings
    from textual.widgets import Static

    async def drawn():
        app = ChordlessApp(Settings())
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await app.screen.mount(Static(f"{NAME}\x9b2Jc", markup=False), before=0)
            await pilot.pause()
            return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    text = asyncio.run(drawn())
    assert "a[31mb2Jc" in text
    assert not set("\x1b\x9b") & set(text)


def test_devices_and_problems_of_a_benchmark_are_no_orders_either(monkeypatch):
    out, err = Terminal(), Terminal()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    monkeypatch.setattr(info, "probe_all", lambda: [DeviceReport("cpu", available=True, device=NAME)])
    assert info.act(argparse.Namespace(json=False)) == 0
    row = SimpleNamespace(title=NAME, measured=True, problems=[f"{NAME}: " + "x" * 9000])
    row.measure, row.cells = (lambda repeat: None), (lambda: [[NAME]])
    machine = {"cpu": NAME, "cores": 2, "device": NAME}
    heading = {"machine": machine, "settings": {"repeat": 1}, "chordless": "1", "date": "", "legend": ""}
    report = Report(heading)
    report.measure([row], 1, None)
    columns = [Column("graph")]
    assert bench.print_report(report, argparse.Namespace(json=None, markdown=False), columns) == 1
    assert "\x1b" not in out.getvalue() + err.getvalue()
    assert (out.getvalue().count("a^[[31mb"), err.getvalue().count("a^[[31mb")) == (3, 2)
    assert max(map(len, err.getvalue().splitlines())) < LONGEST_LINE + 50


def test_a_device_without_pinned_memory_says_so():
    assert "no pinned memory" in DeviceReport("cuda", True, "H200", pinned=False).summary
    assert "pinned" not in DeviceReport("cuda", True, "H200", pinned=True).summary
    assert "pinned" not in DeviceReport("vulkan", True, "llvmpipe").summary


def test_errors_in_python_hold_no_orders():
    for error in (GraphError(f"{NAME}\n\u202eb: no"), OptionError(f"{NAME}\n\u202eb: no")):
        assert str(error) == "a^[[31mb\n\\u202eb: no"
    with pytest.raises(GraphError, match=r"a\^\[\[31mb"):
        Graph.from_edges(2, [(0, 1), (1, 0)], names=[NAME, "b"])
