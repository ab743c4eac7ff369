"""A run as a page of HTML: what it says, that it needs nothing else, and that no name can do harm."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from chordless.cli import main, make_parser
from chordless.commands.options import order_of
from chordless.protocol.events import Failed, Progress
from chordless.protocol.orders import RunCommand
from program import chordless, fails
from test_plot import GRAPH, STARTED, finished, listed_run, record, refused

from kernels_ti import Graph

pytest.importorskip("matplotlib")

from chordless.pictures import style
from chordless.pictures.charts import run_note
from chordless.pictures.participation_drawing import draw_used_edges, graph_of_edges, heat_of_run
from chordless.pictures.recorded_run import read_run
from chordless.runs.command_words import command_line
from chordless.runs.directory import program_version

NASTY = '<script>alert("a&b")</script>--!><img src=x onerror=y>\x07'
_VOID = {"meta", "br", "img", "link", "input"}


class Page(HTMLParser):
    """The elements and the text of a page; every element that is opened must be closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words, self.comments = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(run, tmp_path):
    output = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(output)]) == 0
    return Page(output.read_text(encoding="utf-8")), output.read_text(encoding="utf-8")


def test_what_a_page_says(tmp_path):
    path, cycles = listed_run(tmp_path / "run", title="grid:4x5")
    page, text = page_of(path, tmp_path)
    for words in (
        "Chordless cycles of grid:4x5",
        f"chordless cycles in all {len(cycles)}",
        f"listed ({len(cycles)} written)",
        "vertices 20",
        "edges 31",
        "largest degree 4",
        "edges per vertex 1.55",
        "vertices of a cycle 3 or more",
        "arch cpu",
        "device a device",
        "threads 2",
        "search 2.5 s",
        "in all 3.8 s",
        "memory of the process 200 MiB",
        "chordless list grid:4x5 --arch cpu --threads 2 -o",
    ):
        assert words in page.text, words
    longest = max(cycles, key=len)
    assert " ".join(str(GRAPH.names[v]) for v in longest) in page.text
    assert len(page.named("svg")) == 3
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.named("svg"))
    assert "Not complete" not in page.text
    assert "@media (prefers-color-scheme: dark)" in text
    assert "@media print" in text


def test_a_page_is_true_of_a_directed_graph_with_short_cycles(tmp_path):
    """Six arcs join three vertices, each with two neighbours."""
    started = replace(STARTED, n=3, m=6, max_degree=2, options={"min_length": 1, "directed": True})
    page, _ = page_of(record(tmp_path / "run.jsonl", started, finished({2: 3}, n=3, m=6, max_degree=2)), tmp_path)
    assert "edges per vertex 2" in page.text
    assert "largest degree 2" in page.text
    assert "vertices of a cycle 1 or more" in page.text
    for word in ("density", "mean degree", "any number"):
        assert word not in page.text


def test_a_count_may_exceed_its_limit(tmp_path):
    started = replace(STARTED, options={"limit": 5})
    page, _ = page_of(record(tmp_path / "run.jsonl", started, finished({4: 12}, reason="limit")), tmp_path)
    assert "limit 5 cycles" in page.text
    assert "at most" not in page.text


@pytest.mark.parametrize(("min_length", "has_triangles"), [(3, True), (4, False)])
def test_a_page_has_triangles_only_where_they_were_asked_for(tmp_path, min_length, has_triangles):
    started = replace(STARTED, options={"min_length": min_length})
    page, _ = page_of(record(tmp_path / "run.jsonl", started, finished({5: 12})), tmp_path)
    assert ("triangles 0" in page.text) == has_triangles


def test_the_table_has_every_length(tmp_path):
    cycles = {4: 12, 6: 898988, 8: 100000, 10: 1000}
    page, text = page_of(record(tmp_path / "run.jsonl", STARTED, finished(cycles)), tmp_path)
    rows = re.findall(r"<tr><td>(\d+)</td><td>([\d,]+)</td><td>([\d,]+)</td>", text)
    assert [tuple(int(cell.replace(",", "")) for cell in row) for row in rows] == [
        (3, 12, 0), (4, 30, 12), (5, 41, 0), (6, 7, 898988), (8, 0, 100000), (10, 0, 1000),
    ]  # fmt: skip
    assert re.findall(r"<td>[0-9,]+</td><td>([^<]*%)</td></tr>", text) == [
        "&lt; 0.01 %",
        "89.90 %",
        "10.00 %",
        "0.10 %",
    ]
    # No cycles to draw in a recording, and so no third picture.
    assert len(page.named("svg")) == 2


def test_a_long_table_stands_in_two_halves(tmp_path):
    cycles = {length: length for length in range(3, 44)}
    _, text = page_of(record(tmp_path / "run.jsonl", STARTED, finished(cycles, frontier_by_length={})), tmp_path)
    first, second = re.findall(r"<table><thead>(.*?)</table>", text)
    lengths = [[int(t) for t in re.findall(r"<tr><td>(\d+)</td>", half)] for half in (first, second)]
    assert [len(half) for half in lengths] == [21, 20]
    assert [*lengths[0], *lengths[1]] == list(cycles)


def test_names_are_harmless_and_the_page_needs_nothing_else(tmp_path):
    names = [NASTY, *"bcdefg"]
    graph = Graph.from_edges(7, [(v, (v + 1) % 7) for v in range(7)], names=names)
    path, _ = listed_run(tmp_path / "run", graph, title=NASTY)
    page, text = page_of(path, tmp_path)
    assert NASTY[:-1] in page.text
    assert page.comments == []
    assert "\x07" not in text
    assert not {"script", "img", "iframe", "link", "object", "embed", "base"} & {tag for tag, _ in page.elements}
    links = re.findall(r'(?:href|src)="([^"]*)"|url\(([^)]*)\)', text)
    identifiers = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert links
    assert len(identifiers) == len(set(identifiers))
    assert {a or b for a, b in links} <= {f"#{name}" for name in identifiers}
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_equal_runs_give_equal_pages(tmp_path):
    path, _ = listed_run(tmp_path / "run")
    assert page_of(path, tmp_path)[1] == page_of(path, tmp_path)[1]


def test_pictures_take_the_colours_of_the_page(tmp_path):
    path, _ = listed_run(tmp_path / "run")
    _, text = page_of(path, tmp_path)
    pictures = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL))
    used = set(re.findall(r"var\(--(\w+)\)", pictures))
    assert {"ink", "grid", "paths", "cycles", "edge", "vertex", "paper"} <= used
    style = text[: text.index("</style>")]
    assert all(style.count(f"--{name}:") == 3 for name in used)
    # Black is what the renderer has for marks of its own.
    assert set(re.findall(r": (#[0-9a-f]{6})", pictures)) <= {"#000000"}


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((finished({4: 12}, reason="timeout", share=0.25),), "Not complete: ended by the timeout, with 25% of"),
        ((Progress(1.0, 9, 2, 0, {3: 9}, {3: 2}, 0, share=0.5),), "Not complete: broken off, with 50% of"),
        ((Failed("EngineError", "the <b>memory</b> ran out", 1),), "the <b>memory</b> ran out"),
    ],
)
def test_a_run_that_is_not_complete(tmp_path, events, words):
    page, _ = page_of(record(tmp_path / "run.jsonl", STARTED, *events), tmp_path)
    assert words in page.text
    assert "lower bounds" in page.text


def test_a_count_along_a_boundary_that_tells_no_lengths_apart(tmp_path):
    end = finished({3: 1}, cycles=10**30, paths=0, frontier_by_length={}, boundary={"width": 9, "states": 1234})
    page, _ = page_of(record(tmp_path / "run.jsonl", STARTED, end), tmp_path)
    assert f"{10**30:,}" in page.text
    assert "along a boundary of 9 vertices" in page.text
    assert "tells no lengths apart" in page.text
    assert page.named("svg") == []


def test_counts_that_no_chart_holds_are_a_table(tmp_path):
    end = finished({6: 10**320, 8: 3 * 10**320}, paths=0, frontier_by_length={}, boundary={"width": 9, "states": 1234})
    page, _ = page_of(record(tmp_path / "run.jsonl", STARTED, end), tmp_path)
    assert f"{3 * 10**320:,}" in page.text
    assert "75.00 %" in page.text
    assert "which no chart holds" in page.text
    assert page.named("svg") == []


@pytest.mark.parametrize(
    "wrong", [{"frontier_by_length": {3: 10**307}}, {"frontier": 10**308, "waiting_by_length": {}}]
)
def test_reports_that_no_chart_holds_are_not_drawn(tmp_path, wrong):
    """Also where the result at the end is a small one: the frontier over time is drawn from the reports."""
    reports = [Progress(seconds=second, frontier_by_length={3: second}) for second in (1, 2, 3)]
    reports[1] = replace(reports[1], **wrong)
    page, _ = page_of(record(tmp_path / "run.jsonl", STARTED, *reports, finished({6: 1})), tmp_path)
    assert "which no chart holds" in page.text


def test_a_page_has_no_words_of_a_search_for_a_count_along_a_boundary(tmp_path):
    started = replace(STARTED, options={"method": "boundary"})
    end = finished({4: 12}, paths=0, frontier_by_length={}, boundary={"width": 9, "states": 1234})
    page, text = page_of(record(tmp_path / "run.jsonl", started, end), tmp_path)
    assert "count 2.5 s" in page.text
    for word in ("search", "threads", "chordless paths", "T<sub>t</sub>", "Jradi"):
        assert word not in text, word
    assert "|C<sub>t</sub>| is the number" in text
    _, text = page_of(record(tmp_path / "run.jsonl", STARTED, finished({4: 12})), tmp_path)
    assert "|T<sub>t</sub>| that of chordless paths" in text


def test_only_a_page_is_written(tmp_path, capfd):
    run = record(tmp_path / "run.jsonl", STARTED, finished({4: 12}))
    said, exit_code = refused(capfd, "report", run, "-o", tmp_path / "a.pdf")
    assert (exit_code, "ends in .html" in said) == (2, True)
    said, exit_code = refused(capfd, "report", run, "-o", tmp_path / "no" / "a.html")
    assert (exit_code, "cannot write" in said) == (1, True)


@pytest.mark.parametrize(
    "line",
    [
        "count grid:4x5",
        "count - --format dimacs --simplify --min-length 4 --max-length 9 --limit 7 --timeout 1.5 --arch cuda",
        "count a,b --part 2/5 --through 1,2 --through 3 --through-edge 3-4 --avoid 9 --per-vertex --per-edge",
        "count grid:4x5 --method boundary --total-only --memory 1G",
        "count grid:4x5 --method search --arch cpu",
        "paths grid:4x5 0,0 3,4 --method search",
        "list grid:4x5 --expansion paper --threads 3",
        "list grid:4x5 -o out.jsonl",
        "count --through=-x --avoid=-y,z --timeout 1234567 -- -g.txt",
        "list -o=-out.txt -",
        "count grid:4x5 --timeout 1234567.5 --cluster local --gpus 0,2",
    ],
)
def test_the_command_that_repeats_a_run(line):
    def asked(words):
        options = make_parser().parse_args(words)
        options.check(options.parser, options)
        options.program_start = 0.0
        lines = "jsonl" if getattr(options, "output", None) == "out.jsonl" else "text"
        return order_of(RunCommand, options, output_format=lines)

    command: RunCommand = asked(line.split())
    words = shlex.split(command_line(command.graph, {**vars(command)}))
    assert words[0] == "chordless"
    assert asked(words[1:]) == command
    assert ("list" in words) == line.startswith("list")


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"pick": "longest", "method": "auto"}, "longest x"),
        (
            {"pick": "longest", "shortest": True, "weight": "length", "min_length": 4, "parity": "even"},
            "longest x --shortest --weight length --min-length 4 --even",
        ),
        ({"pick": "sample", "method": "auto", "limit": 9, "seed": 5}, "sample x -k 9 --seed 5"),
        (
            {"pick": "longest", "method": "search", "between": ["1", "2"], "min_length": 2},
            "paths x 1 2 --longest --method search",
        ),
        (
            {"pick": "sample", "between": (), "all_pairs": True, "min_length": 2},
            "paths x --all-pairs --sample 1000 --seed 0",
        ),
        ({"pick": "longest", "between": ["-x", "-1"], "min_length": 2}, "paths --longest -- x -x -1"),
        ({"pick": "sample", "limit": 2, "output": "-", "output_format": "jsonl"}, "sample x -k 2 --seed 0 --json"),
        (
            {"between": ["1", "2"], "min_length": 2, "output": "-", "output_format": "jsonl"},
            "paths x 1 2 --list --json",
        ),
        ({"pick": "sample", "method": "boundary", "output": "d"}, "sample x -k 1000 --seed 0 --method boundary -o d"),
    ],
)
def test_the_command_that_repeats_a_pick(asked, line):
    words = shlex.split(command_line("x", asked))
    assert sorted(words) == sorted(["chordless", *line.split()])
    options = make_parser().parse_args(words[1:])
    options.check(options.parser, options)


@pytest.mark.parametrize("asked", ["auto", "cpu"])
def test_a_page_repeats_a_search_on_a_cluster_and_one_of_standard_input(tmp_path, asked):
    started = replace(
        STARTED, graph="-", arch="cluster", options={**STARTED.options, "arch": asked, "cluster": "local:2"}
    )
    _, page = page_of(record(tmp_path / "run.jsonl", started, replace(finished({4: 1}), graph="-")), tmp_path)
    arch = "" if asked == "auto" else f" --arch {asked}"
    assert f"<pre>chordless count -{arch} --threads 2 --cluster local:2</pre>" in page


@pytest.mark.parametrize(("asked", "arch"), [("auto", ""), ("cuda", " --arch cuda")])
def test_a_page_repeats_a_sample_where_it_was_asked_for(tmp_path, asked, arch):
    """Python draws another sample than the kernels, and either may be what the arch auto becomes."""
    options = {**STARTED.options, "pick": "sample", "limit": 1, "seed": 2, "arch": asked, "threads": None}
    started = replace(STARTED, options=options)
    _, page = page_of(record(tmp_path / "run.jsonl", started, finished({4: 1})), tmp_path)
    assert f"<pre>chordless sample &#x27;a graph&#x27; -k 1 --seed 2{arch}</pre>" in page


def test_of_a_pick_not_all_cycles_are_told(tmp_path):
    started = replace(STARTED, options={**STARTED.options, "pick": "longest", "shortest": True})
    path = record(tmp_path / "run.jsonl", started, finished({4: 1}))
    _, text = page_of(path, tmp_path)
    assert "chordless cycles picked" in text
    assert "in all 1" not in text
    assert "is the number of picked chordless cycles of t vertices" in text
    assert run_note(read_run(path)).endswith(", 1 picked chordless cycle")


@pytest.mark.parametrize(
    ("pick", "words"),
    [
        ({"pick": "longest", "shortest": True}, "the paths are the shortest"),
        ({"pick": "longest", "weight": "length"}, "the paths are the heaviest; the best weighs 12.5"),
        ({"pick": "sample", "limit": 3}, "the paths are drawn at random"),
    ],
)
def test_picked_paths_are_not_said_to_be_all_paths(tmp_path, pick, words):
    started = replace(STARTED, options={"between": ["a", "b"], "min_length": 2, **pick})
    best = {"cycle": ["a", "b"], "weight": "12.5"} if "weight" in pick else None
    end = finished({7: 1}, frontier_by_length={}, paths=0, boundary={"width": 0, "states": 0}, best=best)
    run = record(tmp_path / "run.jsonl", started, end)
    page, text = page_of(run, tmp_path)
    assert "picked chordless paths from a to b 1" in page.text
    assert words in page.text
    assert ("asked for 3 paths" in page.text) == ("limit" in pick)
    assert "is the number of picked chordless paths of t vertices" in text
    assert "along a boundary of 0" not in page.text
    assert run_note(read_run(run)) == "20 vertices, 31 edges, 1 picked chordless path"


def test_the_command_of_a_run_directory_names_a_folder():
    asked = {"output": "/runs/a b", "output_format": "parts", "min_length": 3}
    assert command_line("x", asked) == "chordless list x -o '/runs/a b/'"
    web = {"overlap": True, "types": "a b.clu", "min_length": 3, "max_length": 9}
    line = "chordless overlap x.net --types 'a b.clu' | chordless count - --max-length 9"
    assert command_line("x.net", web) == line


def counted_for_each(graph, cycles, names=None):
    """Return the participation of a graph of which some cycles are known."""
    names = names or [str(name) for name in graph.names]
    edges = [[names[u], names[v]] for u, v in graph.edges().tolist()]
    on = [{frozenset(pair) for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True)} for cycle in cycles]
    return {
        "vertices": [{"name": name, "cycles": sum(name in cycle for cycle in cycles)} for name in names],
        "edges": [{"name": edge, "cycles": sum(frozenset(edge) in used for used in on)} for edge in edges],
    }


TAILED = Graph.from_edges(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 2), (4, 5)], names=list("abcdef"))
TAILED_CYCLES = [list("abcd"), list("cde")]


@pytest.mark.parametrize("where", ["nowhere", "there", "changed"])
def test_what_lies_in_most_cycles_is_ranked_and_drawn(tmp_path, where):
    file = tmp_path / "tailed.txt"
    if where != "nowhere":
        changed = [("a", "b")] * (where == "changed")
        pairs = changed or [(str(TAILED.names[u]), str(TAILED.names[v])) for u, v in TAILED.edges().tolist()]
        file.write_text("".join(f"{u} {v}\n" for u, v in pairs))
    end = finished({3: 1, 4: 1}, participation=counted_for_each(TAILED, TAILED_CYCLES), n=6, m=7)
    started = replace(STARTED, graph=str(file), n=6, m=7)
    page, text = page_of(record(tmp_path / "run.jsonl", started, end), tmp_path)
    rows = re.findall(r'<tr><td>(\d+)</td><td class="name">([^<]*)</td><td>(\d+)</td><td>([^<]*)</td></tr>', text)
    vertices, edges = rows[:5], rows[5:]
    assert [row[1:3] for row in vertices] == [("c", "2"), ("d", "2"), ("a", "1"), ("b", "1"), ("e", "1")]
    assert vertices[0][3] == "100.00 %"
    assert edges[0][1:3] in (("c - d", "2"), ("d - c", "2"))
    assert len(edges) == 6
    drawing = next(svg for svg in page.named("svg") if "share of the cycles" in svg["aria-label"])
    assert drawing


def test_the_shares_of_a_sample_are_those_of_all_cycles(tmp_path):
    boundary = {"width": 3, "states": 9, "drawn_from": 2}
    end = finished({3: 1}, participation=counted_for_each(TAILED, TAILED_CYCLES), n=6, m=7, boundary=boundary)
    started = replace(STARTED, graph="x.txt", n=6, m=7, options={**STARTED.options, "pick": "sample", "limit": 1})
    run = record(tmp_path / "run.jsonl", started, end)
    page, text = page_of(run, tmp_path)
    shares = re.findall(r'<td class="name">[^<]*</td><td>(\d+)</td><td>([^<]*)</td>', text)
    assert set(shares) == {("2", "100.00 %"), ("1", "50.00 %")}
    assert "the cycles are drawn at random from 2" in page.text
    assert heat_of_run(str(run))[1].shares.max() == 1


def test_a_pick_that_was_stopped_has_no_counts_that_are_lower_bounds(tmp_path):
    started = replace(STARTED, options={**STARTED.options, "pick": "longest"})
    page, _ = page_of(record(tmp_path / "run.jsonl", started, finished({}, reason="timeout")), tmp_path)
    assert "done. It has picked no cycle." in page.text
    assert "lower bounds" not in page.text


def test_edges_are_as_wide_as_their_share_of_the_cycles(tmp_path):
    end = finished({3: 1, 4: 1}, participation=counted_for_each(TAILED, TAILED_CYCLES), n=6, m=7)
    run = read_run(record(tmp_path / "run.jsonl", replace(STARTED, graph="x.txt", n=6, m=7), end))
    loaded = graph_of_edges(run)
    with style.in_style():
        (axes,) = draw_used_edges(run, loaded).axes
    unused, used = axes.collections[:2]
    assert (len(unused.get_segments()), len(used.get_segments())) == (1, 6)
    widths = used.get_linewidths()
    assert sorted(widths) == list(widths)
    # One edge is in both cycles, the others in one.
    assert len({round(width, 6) for width in widths[:5]}) == 1
    assert widths[5] > 1.5 * widths[4]


def test_an_overlap_run_is_called_by_its_web(tmp_path, capfd):
    web = tmp_path / "ring.net"
    arcs = "".join(f"{6 + i} {1 + i} 1\n{6 + i} {1 + (i + 1) % 5} 1\n" for i in range(5))
    web.write_text(f"*Vertices 10\n*Arcs\n{arcs}")
    recording = tmp_path / "run.jsonl"
    command = ["overlap", str(web), "--types", "none", "--report", "--arch", "reference", "--events", str(recording)]
    assert main(command) == 0
    capfd.readouterr()
    page, _ = page_of(recording, tmp_path)
    assert f"Chordless cycles of the niche overlap graph of {web}" in page.text
    assert f"chordless overlap {web} --report --types none --arch reference" in page.text
    assert "Vertices in the most cycles" in page.text
    assert f"a run of chordless {program_version()}, begun" in page.text


def test_the_longest_within_a_bound_is_not_called_the_longest(tmp_path):
    bounded = replace(STARTED, options={"max_length": 8})
    page, _ = page_of(record(tmp_path / "run.jsonl", bounded, finished({4: 12, 8: 3})), tmp_path)
    assert "length of the longest, up to the bound of 8 8" in page.text
    page, _ = page_of(record(tmp_path / "run.jsonl", STARTED, finished({4: 12}, reason="timeout")), tmp_path)
    assert "length of the longest found so far 4" in page.text
    path, _ = listed_run(tmp_path / "run", title="grid:4x5")
    page, _ = page_of(path, tmp_path)
    assert "The longest cycle that was found" not in page.text
    events = (path / "events.jsonl").read_text()
    (path / "events.jsonl").write_text(events.replace('"max_length": null', '"max_length": 8'))
    page, _ = page_of(path, tmp_path)
    assert "The longest cycle that was found" in page.text
    assert "Cycles of more than 8 vertices were not asked for." in page.text


@pytest.mark.parametrize(
    "asked",
    [
        {"pick": "sample"},
        {"part": [1, 3]},
        {"through": ["3"]},
        {"avoid_edges": ["3-4"]},
        {"part": [1, 3], "parity": "odd"},
    ],
)
def test_the_longest_of_some_cycles_is_not_called_the_longest_of_the_graph(tmp_path, asked):
    path, cycles = listed_run(tmp_path / "run", title="grid:4x5")
    options = {**STARTED.options, "output": str(path), "output_format": "parts", **asked}
    end = finished({4: 12}, listed=len(cycles))
    record(path / "events.jsonl", replace(STARTED, options=options), end)
    page, _ = page_of(path, tmp_path)
    assert "The longest cycle that was found" in page.text
    assert re.search("length of the longest (found|picked) 4", page.text)
    labels = [svg["aria-label"] for svg in page.named("svg")]
    assert any("longest cycle that was found" in label for label in labels)


def test_the_longest_of_those_listed_is_not_called_the_longest_found(tmp_path):
    path, _ = listed_run(tmp_path / "run", title="grid:4x5")
    options = {**STARTED.options, "output": str(path), "output_format": "parts", "limit": 5}
    end = finished({4: 12, 12: 3}, reason="limit", listed=5)
    record(path / "events.jsonl", replace(STARTED, options=options), end)
    page, _ = page_of(path, tmp_path)
    assert "The longest cycle that was listed" in page.text


@pytest.mark.slow
def test_a_run_without_its_recording_says_how_to_get_one(tmp_path):
    run, page = tmp_path / "run", tmp_path / "run.html"
    assert chordless("list", "petersen", "-o", f"{run}/").returncode == 0
    (run / "events.jsonl").unlink()
    assert fails(chordless("report", run, "-o", page), 2, "is missing", f"`chordless resume {run}` writes a new one")
    assert chordless("resume", run).returncode == 0
    assert chordless("report", run, "-o", page).returncode == 0
    assert page.stat().st_size > 0
    for name in ("events.jsonl", "checkpoint"):
        (run / name).unlink()
    assert fails(chordless("report", run, "-o", page), 2, "is missing", "the run has no checkpoint to go on from")


@pytest.mark.slow
def test_a_report_of_paths_speaks_of_paths(tmp_path, capfd):
    folder = tmp_path / "run"
    assert main(["paths", "grid:4x4", "0,0", "3,3", "-o", f"{folder}/", "--quiet"]) == 0
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page)]) == 0
    text = page.read_text().replace("chordless cycles in graphs", "").replace("--cycles", "")
    for words in ("Chordless paths of grid:4x4", "paths from 0,0 to 3,3", "begun paths", "The longest path"):
        assert words in text
    shown = re.sub(r"(?s)<style>.*?</style>|:root.*?}", "", text)
    assert "cycle" not in re.sub(r"<[^>]*>", "", shown).replace("var(--cycles)", "").lower()
