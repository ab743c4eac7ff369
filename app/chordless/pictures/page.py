"""The report: a run as one self-contained HTML page."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable
from dataclasses import fields

from chordless.graphs.drawing import can_be_drawn
from chordless.graphs.readers.incoming import SHOWN_STANDARD_INPUT, STANDARD_INPUT
from chordless.pictures.charts import TOO_LARGE, evolution_chart, fits_a_chart, frontier_chart, length_histogram
from chordless.pictures.cycle_drawing import DrawnCycle, draw_cycle, longest_kept
from chordless.pictures.participation_drawing import Ranked, draw_used_edges, graph_of_edges, ranking
from chordless.pictures.recorded_run import RecordedRun
from chordless.pictures.style import PALETTE, page_svg, printable
from chordless.protocol.results import RESTRICTIONS, hole_count, triangle_count
from chordless.runs.command_words import command_line
from chordless.words.numbers import best_text, bytes_text, paths_text, seconds_text, share_text
from kernels_ti.choices import ARCHES
from kernels_ti.errors import quantity, vertices_text

_DARK = {
    "ink": "#e6e9ed",
    "muted": "#9aa4af",
    "grid": "#30363d",
    "edge": "#4b535c",
    "vertex": "#7d8590",
    "paper": "#14171b",
    "paths": "#58b2ee",
    "cycles": "#f08b45",
}

_ROWS_IN_ONE_TABLE = 14
_RANKED = 20

_STYLE = """\
:root { color-scheme: light dark; %(light)s }
@media (prefers-color-scheme: dark) { :root { %(dark)s } }
@media print { :root { %(light)s } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 50rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
h1 { font-size: 1.65rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .7rem; break-after: avoid }
p { margin: .5rem 0; overflow-wrap: anywhere }
.note { color: var(--muted); font-size: .9rem }
.incomplete { border-left: .3rem solid var(--cycles); padding: .35rem .8rem }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; margin: 1.4rem 0 0 }
.tiles div { border: 1px solid var(--grid); border-radius: .5rem; padding: .6rem .8rem; break-inside: avoid }
.tiles dt { color: var(--muted); font-size: .85rem }
.tiles dd { margin: 0; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere }
.tables { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1.2rem 3rem; margin-top: 1rem }
figure { margin: 0; break-inside: avoid }
figure svg { display: block; width: 100%%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .22rem 0 .22rem 1.6rem; border-bottom: 1px solid var(--grid) }
thead th { color: var(--muted); font-weight: 500; font-size: .85rem; border-bottom-color: var(--muted) }
th:first-child, td:first-child { padding-left: .2rem }
td.name, th.name { text-align: left; overflow-wrap: anywhere }
tr { break-inside: avoid }
table.facts { width: 100%% }
table.facts th { text-align: left; font-weight: 400; color: var(--muted); width: 12rem; vertical-align: top }
table.facts td { text-align: left; padding-left: .5rem; overflow-wrap: anywhere }
pre { background: var(--grid); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto; white-space: pre-wrap;
  overflow-wrap: anywhere; font: .9rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
footer { margin-top: 3rem; border-top: 1px solid var(--grid); padding-top: .8rem }
@page { margin: 16mm }
@media print { body { padding: 0; max-width: none; font-size: 10.5pt } figure svg { max-height: 17cm }
  h2 { margin-top: 1.6rem } }
"""


def report_page(run: RecordedRun) -> str:
    """Return a run as an HTML page. Call this function within `chordless.pictures.style.in_style`.

    The page contains its style and pictures, and no script. All texts of the run are escaped. A ChordlessError is
    raised if the cycles of the run cannot be read.
    """
    tiles = (f"<div><dt>{_text(label)}</dt><dd>{_text(value)}</dd></div>" for label, value in _tiles(run))
    parts = [
        _head(run),
        f'<dl class="tiles">{"".join(tiles)}</dl>',
        _section("Asked", _facts(_asked(run))),
        _section("Graph", _facts(_graph_facts(run))),
        *_charts(run),
        *_participation(run),
        *_cycle(run),
        _section("How it ran", _facts(_machine(run))),
        _section("To repeat it", *_repeat(run)),
        _footer(run),
    ]
    title = _text(f"Chordless {run.state.thing}s of {run.title}")
    style = _STYLE % {
        "light": _properties({item.name: getattr(PALETTE, item.name) for item in fields(PALETTE)}),
        "dark": _properties(_DARK),
    }
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


_WHAT_CYCLES_ARE = """\
A chordless cycle is a cycle in which no two vertices are joined by an edge but those next to each other on it;
triangles count, and those of 4 or more vertices are also called holes."""

_WHAT_PATHS_ARE = """\
A chordless path is a path in which no two vertices are joined by an edge but those next to each other on it."""

_BOUND = "{}s of more than {:,} vertices were not asked for."
_FOUND = "|C<sub>t</sub>| is the number of {}chordless {}s of t vertices"
_PATHS = ", |T<sub>t</sub>| that of {}s of t vertices that the search looked at"
_ALGORITHM = """\
The algorithm: Jradi, Dias, Castonguay, Longo, do Nascimento, <cite>A GPU-based parallel algorithm for enumerating all
chordless cycles in graphs</cite>."""


def _work(run: RecordedRun) -> str:
    """Return the name of the work that took the time: a count or a search."""
    return "count" if run.is_along_boundary else "search"


def _footer(run: RecordedRun) -> str:
    """Explain only the terms that occur on the page."""
    thing = run.state.thing
    sentences = [_WHAT_CYCLES_ARE if thing == "cycle" else _WHAT_PATHS_ARE]
    if run.has_lengths:
        paths = _PATHS.format("chordless path" if thing == "cycle" else "begun path")
        found = _FOUND.format("picked " if run.picks else "", thing)
        sentences.append(f"{found}{paths if run.state.frontier_by_length else ''}.")
    if not run.is_along_boundary:
        sentences.append(_ALGORITHM)
    return f'<footer class="note"><p>{" ".join(sentences)}</p></footer>'


def _head(run: RecordedRun) -> str:
    # Merged parts may not tell when they began.
    began = time.strftime(", begun %Y-%m-%d %H:%M UTC", time.gmtime(run.state.began)) if run.state.began else ""
    lines = [
        f"<h1>Chordless {run.state.thing}s of {_text(run.title)}</h1>",
        f'<p class="note">a run of chordless {_text(run.program or "of an unknown version")}{began}</p>',
    ]
    if run.shortfall():
        share = share_text(run.state.share) if run.state.share else "an unknown share"
        therefore = "It has picked no cycle." if run.picks else "The counts are lower bounds."
        why = f"Not complete: {run.shortfall()}, with {share} of the {_work(run)} done. {therefore}"
        lines.append(f'<p class="incomplete">{_text(why)}</p>')
    if run.state.error is not None and run.state.phase == "failed":
        lines.append(f'<p class="incomplete">{_text(run.state.error)}</p>')
    return "\n".join(lines)


def _tiles(run: RecordedRun) -> list[tuple[str, str]]:
    state, asked = run.state, run.state.options
    triangles = triangle_count(asked.get("min_length", 3), asked.get("parity"), state.cycles_by_length)
    paths = paths_text(asked.get("between", ()), all_pairs=asked.get("all_pairs", False))
    of = "picked" if run.picks else "in all"
    what = f"{'picked ' if run.picks else ''}chordless {paths}" if paths else f"chordless cycles {of}"
    tiles = [(what, f"{state.cycles:,}")]
    if triangles is not None and not paths and not run.picks:
        holes = hole_count(state.cycles, state.cycles_by_length)
        tiles += [("of 4 or more vertices", f"{holes:,}"), ("triangles", f"{triangles:,}")]
    if run.has_lengths and state.cycles:
        tiles.append((_longest_words(run), f"{max(t for t, count in state.cycles_by_length.items() if count):,}"))
    return [*tiles, (_work(run), seconds_text(state.seconds))]


def _longest_words(run: RecordedRun) -> str:
    """Return a label for the longest cycle, which may not be the longest of the graph, see `_is_longest`."""
    most, parity = run.state.options.get("max_length"), run.state.options.get("parity")
    if run.picks:
        return "length of the longest picked"
    if run.shortfall():
        return "length of the longest found so far"
    if any(run.state.options.get(field) for field in ("part", *RESTRICTIONS)):
        return "length of the longest found"
    if parity is not None:
        return f"length of the longest {parity} one{'' if most is None else f', up to {most:,}'}"
    return f"length of the longest{'' if most is None else f', up to the bound of {most:,}'}"


def _is_longest(run: RecordedRun) -> bool:
    """Return whether the longest cycle of the run is the longest of the graph: nothing that was asked left one out."""
    narrowing = ("max_length", "parity", "part", *RESTRICTIONS)
    return not (run.picks or run.shortfall() or any(run.state.options.get(field) for field in narrowing))


def _asked(run: RecordedRun) -> list[tuple[str, str]]:
    asked, thing = run.state.options, run.state.thing
    least, most = asked.get("min_length", 3), asked.get("max_length")
    lengths = f"{least:,} or more" if most is None else f"{least:,}{f' to {most:,}' if most > least else ''}"
    rows = [(f"vertices of a {thing}", f"{lengths}, {parity}" if (parity := asked.get("parity")) else lengths)]
    restrictions = (
        ("through", "through"),
        ("through_edges", "through the edges"),
        ("avoid", "not through"),
        ("avoid_edges", "without the edges"),
    )
    rows += [(label, ", ".join(map(str, asked[field]))) for field, label in restrictions if asked.get(field)]
    if asked.get("part") is not None:
        rows.append(("part", "{} of {}".format(*asked["part"])))
    if asked.get("limit") is not None:
        rows.append(("asked for" if run.picks else "limit", quantity(asked["limit"], thing)))
    if asked.get("timeout") is not None:
        rows.append(("for at most", seconds_text(asked["timeout"])))
    kept = "counted" if asked.get("output") is None else f"listed ({run.state.listed:,} written)"
    if asked.get("pick") == "longest":
        kept = f"the {best_text(shortest=asked.get('shortest', False), weighted=asked.get('weight') is not None)}"
        kept += "" if run.state.weight is None else f"; the best weighs {run.state.weight}"
    elif run.picks:
        of = run.state.boundary.get("drawn_from")
        kept = "drawn at random" if of is None else f"drawn at random from {of:,}"
    return [*rows, (f"the {thing}s are", kept)]


def _graph_facts(run: RecordedRun) -> list[tuple[str, str]]:
    state = run.state
    rows = [("graph", run.title), ("vertices", f"{state.n:,}"), ("edges", f"{state.m:,}")]
    # A run does not tell whether its graph is simple, on which a density and a mean degree depend.
    if state.n:
        rows.append(("edges per vertex", f"{state.m / state.n:.3g}"))
    rows.append(("largest degree", f"{state.max_degree:,}"))
    return rows


def _charts(run: RecordedRun) -> list[str]:
    state = run.state
    if not run.has_lengths:
        return [
            _section(
                f"{state.thing.capitalize()}s by length", "<p>This count (--total-only) tells no lengths apart.</p>"
            )
        ]
    if not state.cycles and not state.frontier_by_length:
        return []
    thing = state.thing
    if not fits_a_chart(run):
        why = f"<p>It has {TOO_LARGE}.</p>"
        return [_section(f"{thing.capitalize()}s by length", why, _length_table(run))]
    what = f"{state.step}s and {thing}s" if state.frontier_by_length else f"{thing}s"
    evolution = page_svg(evolution_chart([run], titled=False), "evolution", f"chart of chordless {what} by length")
    parts = [_section("Evolution", f"<figure>{evolution}</figure>")]
    if len(state.path_course.pieces) > 1 and state.path_course.lengths and state.seconds > 0:
        frontier = page_svg(
            frontier_chart(run, titled=False),
            "frontier",
            f"heat strip of the {state.step}s looked at, by time and length",
        )
        parts.append(_section("Frontier", f"<figure>{frontier}</figure>"))
    if state.cycles:
        histogram = page_svg(
            length_histogram([run], titled=False), "lengths", f"histogram of chordless {thing}s by length"
        )
        parts.append(_section(f"{thing.capitalize()}s by length", f"<figure>{histogram}</figure>", _length_table(run)))
    return parts


def _length_table(run: RecordedRun) -> str:
    cycles, paths = run.state.cycles_by_length, run.state.frontier_by_length
    lengths = sorted(t for t in {*cycles, *paths} if cycles.get(t) or paths.get(t))
    rows = []
    for t in lengths:
        count = cycles.get(t, 0)
        share = _share(count / run.state.cycles) if count else ""
        path = f"<td>{paths.get(t, 0):,}</td>" if paths else ""
        rows.append(f"<tr><td>{t:,}</td>{path}<td>{count:,}</td><td>{_text(share)}</td></tr>")
    heading = f"<th>{run.state.step}s |T<sub>t</sub>|</th>" if paths else ""
    head = (
        f"<thead><tr><th>length t</th>{heading}<th>{run.state.thing}s |C<sub>t</sub>|</th><th>share</th></tr></thead>"
    )
    # A long table is easier to read as two.
    half = len(rows) if len(rows) <= _ROWS_IN_ONE_TABLE else -(-len(rows) // 2)
    tables = [rows[start : start + half] for start in range(0, len(rows), half)]
    body = "".join(f"<table>{head}<tbody>{''.join(table)}</tbody></table>" for table in tables)
    return f'<div class="tables">{body}</div>'


def _participation(run: RecordedRun) -> list[str]:
    """Rank vertices and edges by their cycles, as far as these were counted, and draw the edges."""
    parts = []
    for what, one in (("vertices", "vertex"), ("edges", "edge")):
        if run.finished is None or what not in (run.finished.participation or {}):
            continue
        ranked = ranking(run, what)
        content = [*([_used_edges(run)] if what == "edges" and ranked else []), _rank_table(ranked, one)]
        parts.append(_section(f"{what.capitalize()} in the most cycles", *content))
    return parts


def _used_edges(run: RecordedRun) -> str:
    loaded = graph_of_edges(run)
    if loaded is None or not can_be_drawn(loaded):
        return '<p class="note">The graph is too large for a picture of its edges.</p>'
    meaning = "the graph, each edge as wide as its share of the cycles"
    picture = page_svg(draw_used_edges(run, loaded), "edges", meaning)
    note = "The wider an edge, the more cycles have it; the grey ones are in no cycle."
    return f'<figure>{picture}</figure>\n<p class="note">{note}</p>'


def _rank_table(ranked: list[Ranked], one: str) -> str:
    if not ranked:
        return f"<p>No {one} lies in any of these cycles.</p>"
    rows = [
        f'<tr><td>{place:,}</td><td class="name">{_text(entry.name)}</td><td>{entry.cycles:,}</td>'
        f"<td>{_text(_share(entry.share))}</td></tr>"
        for place, entry in enumerate(ranked[:_RANKED], 1)
    ]
    head = f'<thead><tr><th></th><th class="name">{one}</th><th>cycles</th><th>share</th></tr></thead>'
    left = len(ranked) - len(rows)
    note = f'<p class="note">and {left:,} more that lie in a cycle</p>' if left > 0 else ""
    return f'<div class="tables"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>{note}'


def _share(share: float) -> str:
    return f"{100 * share:.2f} %" if share >= 0.00005 else "< 0.01 %"


def _cycle(run: RecordedRun) -> list[str]:
    """Draw the longest cycle, if the run keeps its cycles and the graph is small enough for a picture."""
    if run.directory is None or not run.state.cycles:
        return []
    command = run.directory.command()
    if command.output is None or command.output_format != "parts":
        return []
    cycle = longest_kept(run.directory.path)
    if cycle is None:
        return []
    names = f'<p class="note">{_text(_joined(cycle))}</p>'
    most = run.state.options.get("max_length")
    thing = run.state.thing
    how = "listed" if run.state.listed < run.state.cycles and not run.picks else "found"
    which = f"longest {thing}" if _is_longest(run) else f"longest {thing} that was {how}"
    bound = "" if most is None else _BOUND.format(thing.capitalize(), most)
    content = [names, *([f'<p class="note">{bound}</p>'] if bound else [])]
    if can_be_drawn(cycle.loaded):
        meaning = f"the graph with the {which}, of {len(cycle.vertices)} vertices"
        picture = page_svg(draw_cycle(cycle, titled=False), "cycle", meaning)
        content.insert(0, f"<figure>{picture}</figure>")
    return [_section(f"The {which}", *content)]


def _joined(cycle: DrawnCycle) -> str:
    names = cycle.names()
    return (", " if any(" " in name for name in names) else " ").join(names)


def _machine(run: RecordedRun) -> list[tuple[str, str]]:
    state, finished = run.state, run.finished
    threads = state.options.get("threads")
    # Along a boundary small blocks are counted in Python, by one thread.
    has_threads = state.arch == "cpu" and (threads is not None or not run.is_along_boundary)
    rows = [
        ("arch", state.arch),
        ("device", state.device),
        ("threads", ("all" if threads is None else f"{threads:,}") if has_threads else ""),
        ("program", f"chordless {run.program}" if run.program else ""),
        (_work(run), seconds_text(state.seconds)),
        ("start and reading", seconds_text(state.setup_seconds)),
        ("in all", seconds_text(finished.total_seconds) if finished is not None else ""),
        (f"{state.step}s T looked at", f"{state.paths:,}" if state.paths else ""),
        ("memory of the process", bytes_text(max(state.peak_memory_bytes, state.memory_bytes))),
        ("memory on the device", bytes_text(state.device_bytes) if state.arch in ("cuda", "vulkan") else ""),
    ]
    if finished is not None and finished.boundary is not None:
        # Both are 0 as long as no order of the vertices was found, and no state was made.
        width, states = finished.boundary["width"], finished.boundary["states"]
        rows.append(("along a boundary of", vertices_text(width) if width else ""))
        rows.append(("states at most", f"{states:,}" if states else ""))
    return [row for row in rows if row[1]]


def _repeat(run: RecordedRun) -> list[str]:
    state = run.state
    graph = STANDARD_INPUT if state.graph == SHOWN_STANDARD_INPUT else state.graph
    asked = state.options.get("arch")
    # The arch of a search on a cluster is not told. With `auto`, Python may draw another sample than the kernels.
    is_as_asked = state.options.get("cluster") is not None or state.options.get("pick") == "sample"
    arch = state.arch if not is_as_asked else None if asked == ARCHES[0] else asked
    parts = [f"<pre>{_text(command_line(graph, {**state.options, 'arch': arch}))}</pre>"]
    if state.options.get("output_format") == "parts" and state.options.get("output") is not None:
        parts.append('<p class="note">A run directory is never written over: name a new folder.</p>')
    return parts


def _section(title: str, *content: str) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n" + "\n".join(content) + "\n</section>"


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{_text(label)}</th><td>{_text(value)}</td></tr>" for label, value in rows)
    return f'<table class="facts"><tbody>{cells}</tbody></table>'


def _properties(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def _text(text: str) -> str:
    return html.escape(printable(text))
