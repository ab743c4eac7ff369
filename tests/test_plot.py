"""Pictures of runs: what is in them, that equal runs give equal files, and what is refused."""

from __future__ import annotations

import itertools
import os
import resource
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chordless.cli import main
from chordless.graphs.load import LoadedGraph, load_graph
from chordless.protocol.codec import event_to_json
from chordless.protocol.events import BatchStarted, Finished, Progress, Started
from oracles import by_length
from program import ENVIRONMENT, chordless, fails
from test_export import make_run

from kernels_ti import Graph, OptionError
from kernels_ti.reference.algorithm import chordless_cycles

pytest.importorskip("matplotlib")

from chordless.pictures import style
from chordless.pictures.charts import LARGEST_DRAWN, evolution_chart, frontier_chart, length_histogram
from chordless.pictures.cycle_drawing import cycle_number, draw_cycle, longest_cycle
from chordless.pictures.graph_drawing import draw_dots, new_drawing, write_names
from chordless.pictures.recorded_run import read_run
from matplotlib.backends.backend_agg import FigureCanvasAgg

GRAPH = load_graph("grid:4x5").graph
PATHS = {3: 12, 4: 30, 5: 41, 6: 7}
STARTED = Started(
    "a graph", n=20, m=31, max_degree=4, arch="cpu", device="a device", setup_seconds=1.0, pid=1,
    options={"min_length": 3, "max_length": None, "output": None, "threads": 2},
)  # fmt: skip


def finished(cycles_by_length, **more):
    """Return the last event of a run that has found these cycles."""
    values = {
        "reason": "complete", "graph": "a graph", "n": 20, "m": 31, "max_degree": 4, "paths": 90, "frontier": 0,
        "frontier_by_length": PATHS, "listed": 0, "device_bytes": 0, "arch": "cpu", "device": "a device",
        "setup_seconds": 1.0, "enumerate_seconds": 2.5, "total_seconds": 3.75, "share": 1.0,
        "peak_memory_bytes": 200 << 20, "cycles": sum(cycles_by_length.values()),
    }  # fmt: skip
    return Finished(**{**values, **more}, cycles_by_length=cycles_by_length)


def record(path, *events):
    """Write a recording, a second between two events."""
    path.write_text("".join(event_to_json(event, time=1e9 + i) + "\n" for i, event in enumerate(events)))
    return path


def listed_run(path, graph=GRAPH, title="a graph"):
    """Make a run directory with cycles and a recording; return it and the cycles."""
    cycles = make_run(path, graph, title=title)
    options = {**STARTED.options, "output": str(path), "output_format": "parts"}
    started = replace(STARTED, graph=title, n=graph.n, m=graph.m, options=options)
    end = finished(by_length(cycles), graph=title, n=graph.n, m=graph.m, listed=len(cycles))
    record(path / "events.jsonl", started, end)
    return path, cycles


def points_of(line):
    """Return the points of a curve, without the places where it breaks."""
    points = zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True)
    return {length: count for length, count in points if count == count}


@pytest.fixture
def in_style():
    with style.in_style():
        yield


def refused(capfd, *arguments):
    """Return the one line, and the exit code, with which a command line is refused."""
    exit_code = main([str(argument) for argument in arguments])
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("chordless")
    return said.err, exit_code


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize(("log", "scale"), [(True, "log"), (False, "linear")])
def test_the_evolution_chart_has_both_curves(tmp_path, log, scale):
    path, cycles = listed_run(tmp_path / "run")
    figure = evolution_chart([read_run(path)], log=log)
    (axes,) = figure.axes
    assert [points_of(line) for line in axes.lines] == [PATHS, by_length(cycles)]
    assert axes.get_yscale() == scale
    assert axes.get_xlabel() == "t, vertices of the path or the cycle"
    said = [text.get_text() for text in figure.texts]
    assert said == ["a graph", f"20 vertices, 31 edges, {len(cycles)} chordless cycles"]


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize(
    ("lengths", "breaks"), [([5, 8, 9, 10], [6]), ([4, 6, 8], []), ([4, 6, 8, 16], [10]), ([7], []), ([], [])]
)
def test_a_curve_breaks_where_lengths_are_missing(tmp_path, lengths, breaks):
    run = read_run(record(tmp_path / "events.jsonl", STARTED, finished(dict.fromkeys(lengths, 2))))
    for runs in ([run], [run, run]):
        for line in evolution_chart(runs).axes[-1].lines[-len(runs) :]:
            assert sorted(points_of(line)) == lengths
            assert line.get_xdata()[np.isnan(line.get_ydata())].tolist() == breaks


@pytest.mark.usefixtures("in_style")
def test_a_length_between_two_breaks_is_seen_where_no_other_is_marked(tmp_path):
    run = read_run(record(tmp_path / "events.jsonl", STARTED, finished(dict.fromkeys([3, *range(20, 120), 150], 2))))
    (axes,) = evolution_chart([run]).axes
    line = axes.lines[-1]
    assert line.get_xdata()[line.get_markevery()].tolist() == [3, 150]


@pytest.mark.usefixtures("in_style")
def test_the_evolution_chart_of_paths_names_no_cycle(tmp_path):
    started = replace(STARTED, options={**STARTED.options, "between": ["0", "1"]})
    run = read_run(record(tmp_path / "events.jsonl", started, finished(PATHS)))
    for runs in ([run], [run, run]):
        assert {axes.get_xlabel() for axes in evolution_chart(runs).axes} == {"t, vertices of the path"}


@pytest.mark.usefixtures("in_style")
def test_the_frontier_has_its_strip_and_its_size_over_time():
    run = read_run(Path(__file__).parent / "tui" / "recorded" / "grid-7x10-paper.jsonl")
    strip, _, waiting = frontier_chart(run).axes
    (mesh,) = strip.collections
    counts = mesh.get_array()
    assert int(counts.sum()) == run.state.paths, "each path that was looked at is in the strip"
    brightest = counts.filled(0).argmax(axis=0)
    assert all(brightest[1:] >= brightest[:-1]), "the wave moves to longer paths"
    (line,) = waiting.lines
    assert max(line.get_ydata()) == run.state.frontier_course.peak
    assert not any(line.get_visible() for line in waiting.get_ygridlines()), "nothing lies across the strip"


@pytest.mark.usefixtures("in_style")
def test_the_histogram_has_a_bar_for_each_length(tmp_path):
    path, cycles = listed_run(tmp_path / "run")
    (axes,) = length_histogram([read_run(path)]).axes
    bars = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in axes.patches}
    assert bars == by_length(cycles)


@pytest.mark.usefixtures("in_style")
def test_one_empty_half_leaves_the_other_its_scale(tmp_path):
    """A count along a boundary looks at no paths, and a search may find no cycle."""
    counted = read_run(record(tmp_path / "counted.jsonl", STARTED, finished({4: 9, 40: 900}, frontier_by_length={})))
    (cycles,) = evolution_chart([counted, counted]).axes
    assert "cycles" in cycles.get_title(loc="left")
    assert cycles.get_xlim()[1] > 40
    assert cycles.get_ylim()[1] > 900
    acyclic = read_run(record(tmp_path / "acyclic.jsonl", STARTED, finished({}, frontier_by_length={3: 9, 40: 900})))
    for axes in evolution_chart([acyclic, acyclic]).axes:
        assert axes.get_xlim()[1] > 40
        assert axes.get_ylim()[1] > 900


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize("cycles", [{1: 3}, {2: 5}, {2: 24, 3: 52, 4: 80}, {3: 1}, {1: 2, 40: 7}])
def test_the_charts_show_every_length(tmp_path, cycles):
    """A self-loop is a cycle of one vertex, an edge a path of two."""
    run = read_run(record(tmp_path / "run.jsonl", STARTED, finished(cycles, frontier_by_length={})))
    for figure in (evolution_chart([run]), evolution_chart([run, run]), length_histogram([run, run])):
        for axes in figure.axes:
            left, right = axes.get_xlim()
            bars = [end for bar in axes.patches for end in (bar.get_x(), bar.get_x() + bar.get_width())]
            drawn = [*bars, *(t for line in axes.lines for t in line.get_xdata())]
            assert all(left < t < right for t in drawn), (left, right, drawn)
            shown = [tick for tick in axes.get_xticks() if left <= tick <= right]
            assert all(tick == round(tick) for tick in shown), "a length is a whole number"


@pytest.mark.usefixtures("in_style")
def test_no_tick_of_few_cycles_comes_twice(tmp_path):
    run = tmp_path / "run"
    assert chordless("list", "hexagonal:1x2", "-o", f"{run}/", "--arch", "cpu", "-q").returncode == 0
    (bars,) = length_histogram([read_run(run)]).axes
    strip, _, waiting = frontier_chart(read_run(run)).axes
    for axis in (bars.yaxis, strip.yaxis, waiting.yaxis):
        axis.figure.canvas.draw()
        said = [label.get_text() for label in axis.get_ticklabels()]
        assert len(set(said)) == len(said) > 1


@pytest.mark.usefixtures("in_style")
def test_several_runs_are_side_by_side_and_named(tmp_path):
    one = record(tmp_path / "_one.jsonl", STARTED, finished({4: 12}))
    two = record(tmp_path / "two.jsonl", STARTED, finished({4: 5}, reason="limit"))
    figure = evolution_chart([read_run(one), read_run(two)])
    paths, cycles = figure.axes
    assert [line.get_ydata().tolist() for line in paths.lines] == [list(map(float, PATHS.values()))] * 2
    assert [line.get_ydata().tolist() for line in cycles.lines] == [[12.0], [5.0]]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [name[-10:] for name in names] == ["_one.jsonl", "/two.jsonl"]
    assert "lower bounds" in figure.texts[1].get_text()
    assert "two.jsonl" in figure.texts[1].get_text()
    with pytest.raises(OptionError, match="up to 6"):
        evolution_chart([read_run(one)] * 7)


@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize("events", [(STARTED,), (STARTED, finished({3: 2}, reason="timeout"))])
def test_an_unfinished_run_is_said_to_be_one(tmp_path, events):
    progress = Progress(1.0, 9, 2, 0, {3: 9}, {3: 2}, 0)
    path = record(tmp_path / "run.jsonl", events[0], progress, *events[1:])
    figure = evolution_chart([read_run(path)])
    assert "at least 2 chordless cycles" in figure.texts[1].get_text()


@pytest.mark.usefixtures("in_style")
def test_a_graph_without_cycles_and_a_name_like_a_formula(tmp_path):
    name = "$x^{<b>&\n"
    nothing = finished({}, frontier_by_length={}, graph=name)
    run = read_run(record(tmp_path / "run.jsonl", replace(STARTED, graph=name), nothing))
    for figure in (evolution_chart([run]), length_histogram([run])):
        assert "nothing was found" in [text.get_text() for text in figure.axes[0].texts]
        assert figure.texts[0].get_text() == "$x^{<b>&\\x0a"
        ElementTree.fromstring(style.file_bytes(figure, "svg"))


@pytest.mark.usefixtures("in_style")
def test_what_no_chart_can_show_is_refused(tmp_path):
    total_only = record(tmp_path / "total.jsonl", STARTED, finished({3: 1}, cycles=10))
    with pytest.raises(OptionError, match="tells no lengths apart"):
        evolution_chart([read_run(total_only)])
    huge = record(tmp_path / "huge.jsonl", STARTED, finished({90: 10**301}))
    with pytest.raises(OptionError, match="beyond"):
        length_histogram([read_run(huge)])


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("in_style")
def test_the_largest_counts_that_a_chart_holds_are_on_its_axis(tmp_path):
    counts = {4: 985, 90: LARGEST_DRAWN}
    run = read_run(record(tmp_path / "run.jsonl", STARTED, finished(counts, frontier_by_length={5: LARGEST_DRAWN})))
    for figure in (evolution_chart([run]), evolution_chart([run, run]), length_histogram([run], log=True)):
        style.file_bytes(figure, "svg")
        assert all(axes.get_ylim()[1] > LARGEST_DRAWN for axes in figure.axes)
    huge = record(tmp_path / "huge.jsonl", STARTED, finished({4: 985, 90: 10**297}))
    with pytest.raises(OptionError, match="beyond"):
        evolution_chart([read_run(huge)])


def test_a_listing_that_was_killed_before_it_kept_a_cycle_says_so(tmp_path, capfd):
    path, page = tmp_path / "run", tmp_path / "page.html"
    found = by_length(chordless_cycles(GRAPH))
    make_run(path, GRAPH, finished=False, more=sum(found.values()))
    options = {**STARTED.options, "output": str(path), "output_format": "parts"}
    record(path / "events.jsonl", replace(STARTED, options=options), finished(found, reason="interrupted"))
    for cycle in (("--longest",), ("--cycle", "1")):
        said, exit_code = refused(capfd, "plot", path, *cycle, "-o", tmp_path / "cycle.svg")
        assert f"the run was stopped before it kept a cycle; `chordless resume {path}` goes on with it" in said
        assert exit_code == 2
    assert main(["report", str(path), "-o", str(page)]) == 0
    assert "longest cycle that was" not in page.read_text()


@pytest.mark.usefixtures("in_style")
def test_cycles_by_number_and_the_longest(tmp_path):
    path, cycles = listed_run(tmp_path / "run")
    assert [cycle_number(path, n + 1).vertices.tolist() for n in range(len(cycles))] == cycles
    longest = longest_cycle(path)
    assert len(longest.vertices) == max(map(len, cycles))
    assert cycles[longest.number - 1] == longest.vertices.tolist()
    for number in (0, len(cycles) + 1):
        with pytest.raises(OptionError, match=f"numbered 1 to {len(cycles)}"):
            cycle_number(path, number)


@pytest.mark.usefixtures("in_style")
def test_the_cycle_is_drawn_along_its_edges(tmp_path):
    path, cycles = listed_run(tmp_path / "run", title="grid:4x5")
    (axes,) = draw_cycle(cycle_number(path, 3)).axes
    (line,) = axes.lines
    drawn = np.column_stack(line.get_data())
    # The layout of a grid: rows downwards, columns to the right.
    expected = [(v % 5, -(v // 5)) for v in [*cycles[2], cycles[2][0]]]
    assert drawn.tolist() == [list(map(float, place)) for place in expected]
    edges = axes.collections[0].get_segments()
    assert len(edges) == GRAPH.m
    assert {tuple(np.abs(a - b)) for a, b in edges} == {(0.0, 1.0), (1.0, 0.0)}
    assert [text.get_text() for text in axes.texts] == [str(name) for name in GRAPH.names]


def drawing_of(graph, title="a graph", names=None):
    graph = load_graph(graph).graph if isinstance(graph, str) else graph
    if names is not None:
        graph = Graph.from_edge_array(graph.edges(), n=graph.n, names=names)
    loaded = LoadedGraph(graph, title)
    drawing = new_drawing(loaded, range(min(graph.n, 40)), titled=False)
    draw_dots(drawing, drawing.drawn, colour="#000000")
    write_names(drawing, [])
    return drawing


@pytest.mark.slow
@pytest.mark.usefixtures("in_style")
@pytest.mark.parametrize(
    ("graph", "names"), [("planar:300,1", None), ("karate", None), ("planar:24,1", "a long name {}")]
)
def test_names_never_overlap_each_other_or_a_dot(graph, names):
    n = load_graph(graph).graph.n
    drawing = drawing_of(graph, names=None if names is None else [names.format(v) for v in range(n)])
    texts = drawing.axes.texts
    assert len(texts) >= 5
    if drawing.names_inside:
        return
    renderer = FigureCanvasAgg(drawing.figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    dots = drawing.axes.transData.transform(drawing.places[drawing.drawn])
    assert not any(box.contains(*dot) for box in boxes for dot in dots)
    width, height = drawing.figure.bbox.size
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)


@pytest.mark.usefixtures("in_style")
@pytest.mark.slow
def test_dots_leave_the_edges_in_sight():
    sizes = [drawing_of(f"planar:{n},1").dot for n in (30, 300)]
    assert sizes[0] > sizes[1] > 0
    for n in (30, 300):
        drawing = drawing_of(f"planar:{n},1")
        u, v = load_graph(f"planar:{n},1").graph.edges().T
        lengths = np.hypot(*(drawing.points[u] - drawing.points[v]).T)
        assert drawing.names_inside or drawing.dot < 0.4 * np.median(lengths)
    many = drawing_of("grid:20x30", "grid:20x30")
    assert (many.dot, len(many.axes.collections)) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("how", [(), ("--histogram",), ("--longest",)])
@pytest.mark.parametrize(("suffix", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_equal_runs_give_equal_files(tmp_path, how, suffix, begins):
    path, _ = listed_run(tmp_path / "run")
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file in files:
        assert main(["plot", str(path), "-o", str(file), *how]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(begins)
    assert not any(date in files[0].read_bytes() for date in (b"dc:date", b"CreationDate"))


def test_the_users_own_style_is_left_out(tmp_path):
    import matplotlib

    path = record(tmp_path / "run.jsonl", STARTED, finished({4: 12}))
    assert main(["plot", str(path), "-o", str(tmp_path / "a.svg")]) == 0
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.fonttype": "none"}):
        assert main(["plot", str(path), "-o", str(tmp_path / "b.svg")]) == 0
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.slow
def test_nothing_is_said_of_the_caches_of_matplotlib(tmp_path):
    path = record(tmp_path / "run.jsonl", STARTED, finished({4: 12}))
    environment = {**ENVIRONMENT, "MPLCONFIGDIR": os.devnull}
    done = chordless("plot", path, "-o", tmp_path / "a.svg", env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [("plot", "a.svg"), ("report", "a.html")])
@pytest.mark.slow
def test_a_full_disk_leaves_the_picture_that_was_there(tmp_path, arguments):
    name, output = arguments[0], tmp_path / arguments[1]
    path = record(tmp_path / "run.jsonl", STARTED, finished({4: 12}))
    output.write_bytes(b"an earlier one")

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    # Python must not leave compiled sources behind that are cut off.
    environment = {**ENVIRONMENT, "MPLCONFIGDIR": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    done = chordless(name, path, "-o", output, preexec_fn=small_disk, env=environment)
    assert fails(done, 1, f"cannot write {output}: File too large")
    assert output.read_bytes() == b"an earlier one"
    assert sorted(os.listdir(tmp_path)) == sorted([output.name, "run.jsonl"])
    assert main([name, str(path), "-o", str(output)]) == 0
    assert len(output.read_bytes()) > 5000


def test_refusals(tmp_path, capfd, monkeypatch):
    path, _ = listed_run(tmp_path / "run")
    recording = record(tmp_path / "run.jsonl", STARTED, finished({4: 12}))
    picture = tmp_path / "a.svg"
    of_batch = record(tmp_path / "events.jsonl", BatchStarted(1, "batch.jsonl", 2))
    (tmp_path / "batch.jsonl").write_text('{"graph": "petersen", "n": 10}\n')
    (tmp_path / "g.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for arguments, exit_code, words in [
        ((path, "-o", tmp_path / "a.gif"), 2, "ends in .svg, .png, .pdf"),
        ((path, path, "--longest", "-o", picture), 2, "of one run, not of 2"),
        ((path, "--cycle", 2, "--linear", "-o", picture), 2, "no scale"),
        ((path, "--cycle", 0, "-o", picture), 2, "not above 0"),
        ((recording, "--cycle", 1, "-o", picture), 2, "name the run directory"),
        ((tmp_path / "none", "-o", picture), 2, "no such run directory"),
        ((tmp_path, "-o", picture), 2, "there is no run in"),
        ((path / "graph.json", "-o", picture), 2, "not one whole line"),
        (
            (path / "run.json", "-o", picture),
            2,
            "made with --events; to draw a cycle of a file of cycles, name their graph: --graph GRAPH",
        ),
        ((tmp_path / "batch.jsonl", "-o", picture), 2, "line 1: not an event with its time: this is not a recording"),
        ((of_batch, "-o", picture), 2, "the recording of a batch, not of one search; `chordless plot OUT.jsonl` draws"),
        ((tmp_path / "g.png", "-o", picture), 2, "line 1: not a line of JSON: this is not a recording"),
        ((path, "-o", tmp_path / "no" / "a.svg"), 1, "cannot write"),
    ]:
        said, code = refused(capfd, "plot", *arguments)
        assert (code, words in said) == (exit_code, True), said
    assert not picture.exists()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    said, code = refused(capfd, "plot", path, "-o", picture)
    assert (said, code) == ("chordless: error: pictures need matplotlib: pip install 'chordless[plot]'\n", 2)
