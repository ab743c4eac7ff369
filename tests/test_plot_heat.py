"""Pictures and maps of how many cycles pass each edge, and the graphs of a batch in one picture."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from chordless.cli import main
from chordless.cycles.heat import heat_of_file
from chordless.graphs.load import load_graph
from oracles import networkx_cycles

from kernels_ti import GraphError, OptionError

pytest.importorskip("matplotlib")

from chordless.pictures import style
from chordless.pictures.batch_drawing import MOST_CHARTS, is_batch, small_multiples
from chordless.pictures.participation_drawing import draw_heat, heat_features, heat_of_run

GRID = load_graph("grid:3x4").graph


def passing(graph):
    """Return how many cycles of networkx pass each edge."""
    counts = Counter()
    for cycle in networkx_cycles(graph):
        counts.update(frozenset(edge) for edge in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    return [counts[frozenset(edge)] for edge in graph.pairs().tolist()]


@pytest.fixture
def counted(tmp_path, capsys):
    """Return the file that ``count --per-edge --json`` prints of the grid."""
    path = tmp_path / "edges.json"
    assert main(["count", "grid:3x4", "--per-edge", "--json", "-q"]) == 0
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.parametrize("suffix", ["txt", "jsonl", "npy"])
def test_files_of_cycles_and_of_counts_have_the_same_heat(suffix, tmp_path, counted):
    cycles = tmp_path / f"cycles.{suffix}"
    assert main(["list", "grid:3x4", "-o", str(cycles), "-q"]) == 0
    right = passing(GRID)
    for path in (cycles, counted):
        heat = heat_of_file(str(path), GRID, "grid:3x4")
        assert list(heat.counts) == right
        assert heat.total == len(list(networkx_cycles(GRID)))


def test_counts_of_other_edges_are_refused(tmp_path, counted, capsys):
    other = load_graph("grid:3x5").graph
    with pytest.raises(GraphError, match="its edges are not those of grid:3x5"):
        heat_of_file(str(counted), other, "grid:3x5")
    assert main(["count", "petersen", "--json", "-q"]) == 0
    counted.write_text(capsys.readouterr().out)
    with pytest.raises(OptionError, match="--per-edge"):
        heat_of_file(str(counted), GRID, "grid:3x4")


@pytest.mark.parametrize(
    "wrong",
    [
        {"total": 1e999}, {"total": 0}, {"edges": [5]}, {"edges": [{"name": "0,0", "cycles": 1}]},
        {"edges": [{"name": ["0,0", "0,1"], "cycles": "x"}]}, {"edges": [{"cycles": 1}]},
    ],
    ids=str,
)  # fmt: skip
def test_counts_that_nobody_printed_are_refused(counted, wrong):
    counted.write_text(json.dumps({**json.loads(counted.read_text()), **wrong}))
    with pytest.raises(OptionError, match="was changed or damaged"):
        heat_of_file(str(counted), GRID, "grid:3x4")


@pytest.mark.parametrize("command", ["list", "count --per-edge"])
def test_a_run_has_its_heat(command, tmp_path, capsys):
    run, picture = tmp_path / "run", tmp_path / "heat.svg"
    verb, *more = command.split()
    where = ["-o", f"{run}/"] if verb == "list" else ["--events", str(run)]
    assert main([verb, "grid:3x4", *more, *where, "-q"]) == 0
    loaded, heat = heat_of_run(str(run))
    by_names = {
        frozenset(str(loaded.graph.names[v]) for v in edge): count
        for edge, count in zip(heat.pairs.tolist(), heat.counts, strict=True)
    }
    names = [[str(GRID.names[v]) for v in edge] for edge in GRID.pairs().tolist()]
    assert [by_names[frozenset(edge)] for edge in names] == passing(GRID)
    assert main(["plot", str(run), "--heat", "-o", str(picture)]) == 0
    assert b"<svg" in picture.read_bytes()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "how"),
    [
        (["count", "grid:3x4"], "keeps no cycles: count with --per-edge, or list"),
        (["paths", "grid:3x4", "0,0", "2,3"], "keeps no paths: `chordless paths -o DIR/` does"),
    ],
)
def test_a_run_without_edges_or_cycles_is_refused(arguments, how, tmp_path, capsys):
    run = tmp_path / "run"
    assert main([*arguments, "--checkpoint", str(run), "-q"]) == 0
    assert main(["plot", str(run), "--heat", "-o", str(tmp_path / "heat.svg")]) == 2
    assert how in capsys.readouterr().err


def test_the_title_names_the_widest_edge(counted):
    loaded = load_graph("grid:3x4")
    heat = heat_of_file(str(counted), loaded.graph, "grid:3x4")
    with style.in_style():
        figure = draw_heat(loaded, heat, titled=True)
    most = max(heat.counts)
    assert f"is in {most} of {heat.total} cycles" in figure.texts[1].get_text()


def test_the_heat_of_paths_tells_paths(tmp_path, capsys):
    run, line = tmp_path / "run", tmp_path / "path.json"
    assert main(["paths", "grid:3x4", "0,0", "2,3", "-o", f"{run}/", "-q"]) == 0
    assert main(["paths", "grid:3x4", "0,0", "2,3", "--shortest", "--json", "-q"]) == 0
    line.write_text(capsys.readouterr().out)
    grid = load_graph("grid:3x4")
    for loaded, heat in (heat_of_run(str(run)), (grid, heat_of_file(str(line), grid.graph, "grid:3x4"))):
        with style.in_style():
            figure = draw_heat(loaded, heat, titled=True)
        assert f"of {heat.total} path" in figure.texts[1].get_text()
        placed = replace(loaded, positions={v: (float(v), 0.0) for v in range(loaded.graph.n)})
        told = [feature["properties"]["paths"] for feature in heat_features(placed, heat)]
        assert told == list(heat.counts)


def test_a_map_of_the_heat_has_every_edge(tmp_path, capsys):
    city, output, cycles = tmp_path / "city.txt", tmp_path / "heat.geojson", tmp_path / "cycles.txt"
    city.write_text("# xy 1 0 0\n# xy 2 1 0\n# xy 3 1 1\n# xy 4 0 1\n# xy 5 2 0\n1 2\n2 3\n3 4\n4 1\n2 5\n")
    cycles.write_text("1 2 3 4\n")
    assert main(["plot", str(cycles), "--graph", str(city), "--heat", "-o", str(output)]) == 0
    told = [feature["properties"] for feature in json.loads(output.read_text())["features"]]
    assert {(edge["u"], edge["v"]): edge["cycles"] for edge in told} == {
        ("1", "2"): 1, ("1", "4"): 1, ("2", "3"): 1, ("2", "5"): 0, ("3", "4"): 1,
    }  # fmt: skip
    cycles.write_text("0 1 2 3\n")
    assert main(["plot", str(cycles), "--graph", "cycle:4", "--heat", "-o", str(output)]) == 2
    assert "no coordinates for all vertices" in capsys.readouterr().err


def test_each_graph_of_a_batch_has_a_chart(tmp_path, capsys):
    lines = tmp_path / "lines.jsonl"
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("1 1\n")
    assert main(["batch", "grid:3x4", "petersen", "path:4", str(wrong), "-o", str(lines), "-q"]) == 5
    capsys.readouterr()
    assert is_batch(str(lines))
    with style.in_style():
        figure = small_multiples(str(lines))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["grid:3x4", "petersen", "path:4"]
    assert [axes.texts[0].get_text() for axes in figure.axes] == ["n 12, 9 holes", "n 10, 22 holes", "n 4, no hole"]
    assert [bar.get_height() for bar in figure.axes[1].patches] == [12, 10]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    assert main(["plot", str(lines), "-o", str(tmp_path / "batch.png")]) == 0
    assert main(["plot", str(lines), str(lines), "-o", str(tmp_path / "two.png")]) == 2
    assert "a batch is drawn by itself" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("bounds", "note"),
    [
        (["--odd"], "n 16, no odd hole"),
        (["--max-length", "4"], "n 16, 9 holes of 4 to 4 vertices"),
        (["--min-length", "12"], "n 16, 7 holes of 12 or more vertices"),
    ],
)
def test_a_chart_of_a_batch_names_the_holes_that_were_asked_for(tmp_path, bounds, note):
    lines = tmp_path / "batch.jsonl"
    assert main(["batch", "grid:4x4", *bounds, "-o", str(lines), "-q"]) == 0
    with style.in_style():
        (axes,) = small_multiples(str(lines)).axes
    assert note in [text.get_text() for text in axes.texts]


def test_a_long_batch_shows_its_first_graphs(tmp_path):
    line = {"graph": "a.smi:7", "status": "complete", "hash": "", "n": 6, "chordless_cycles": 1, "complete": True}
    lines = tmp_path / "lines.jsonl"
    lines.write_text(f"{json.dumps({**line, 'by_length': {'6': 1}})}\n" * (MOST_CHARTS + 5))
    with style.in_style():
        figure = small_multiples(str(lines))
    assert len(figure.axes) == MOST_CHARTS
    assert f"the first {MOST_CHARTS} of {MOST_CHARTS + 5} graphs" in figure.texts[1].get_text()
    assert figure.axes[0].get_title(loc="left") == "a.smi:7"
    lines.write_text(json.dumps({**line, "by_length": {"6": 10**301}}) + "\n")
    with pytest.raises(OptionError, match="counts beyond"):
        small_multiples(str(lines))
    for wrong in ({"n": "x"}, {"graph": 5}, {"by_length": {"6": "x"}}, {"interval": [1]}, {"chordless_cycles": 1e999}):
        lines.write_text(json.dumps({**line, "by_length": {"6": 1}, **wrong}) + "\n")
        with pytest.raises(OptionError, match=f"changed or damaged: {next(iter(wrong))} is"):
            small_multiples(str(lines))
    lines.write_text(json.dumps({**line, "by_length": None}) + "\n")
    with pytest.raises(OptionError, match="nothing to draw"):
        small_multiples(str(lines))
