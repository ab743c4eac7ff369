"""The style of pictures, and how they are saved. Equal pictures give equal files."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from kernels_ti import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")

# Space around the axes, in inches.
_LEFT, _RIGHT, _BOTTOM, _BETWEEN = 0.85, 0.25, 0.62, 0.3
TITLE_HEIGHT, NO_TITLE_HEIGHT = 0.85, 0.2
_LONGEST_TITLE, _LONGEST_NOTE = 56, 102


@dataclass(frozen=True)
class Palette:
    """The colours of a picture. All are different, so that a page can replace each of them by its own.

    `paths` and `cycles` differ for colour-blind readers and in print; see Okabe and Ito, *Color Universal Design*.
    """

    ink: str = "#1f2328"
    muted: str = "#656d76"
    grid: str = "#e4e7eb"
    edge: str = "#b8bfc7"
    vertex: str = "#79828c"
    paper: str = "#fefefe"
    paths: str = "#0072b2"
    cycles: str = "#d55e00"


PALETTE = Palette()
RUN_COLOURS = (PALETTE.paths, PALETTE.cycles, "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
RUN_MARKERS = ("o", "s", "^", "D", "v", "P")

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "text.color": PALETTE.ink,
    "axes.labelcolor": PALETTE.ink,
    "axes.edgecolor": PALETTE.muted,
    "axes.facecolor": PALETTE.paper,
    "figure.facecolor": PALETTE.paper,
    "xtick.color": PALETTE.muted,
    "ytick.color": PALETTE.muted,
    "xtick.labelcolor": PALETTE.ink,
    "ytick.labelcolor": PALETTE.ink,
    "grid.color": PALETTE.grid,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelsize": 10.0,
    "axes.labelpad": 6.0,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "savefig.dpi": 200,
    # Identifiers within an SVG are hashes. Without a fixed salt they differ each time.
    "svg.hashsalt": "chordless",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
# No dates or versions, so that equal pictures give equal files.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "chordless"},
    "pdf": {"CreationDate": None, "Creator": "chordless"},
    "png": {"Software": "chordless"},
}


def require_matplotlib() -> None:
    """Raise an OptionError that says how to install matplotlib if it is not installed."""
    # The user did not ask for messages about matplotlib's caches.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise OptionError("pictures need matplotlib: pip install 'chordless[plot]'") from None


@contextlib.contextmanager
def in_style() -> Iterator[None]:
    """Make and save figures in the style of this project, independent of the user's matplotlibrc."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A letter without a glyph in any font is drawn as a box. No warning is needed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(cast(Any, _SETTINGS))
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure without a display. Sizes are in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def add_axes(figure: Figure, columns: int = 1, *, above: float = TITLE_HEIGHT, below: float = _BOTTOM) -> list[Axes]:
    """Add axes side by side, with a common scale. `above` and `below` are free space in inches."""
    width, height = figure.get_size_inches()
    made = figure.subplots(1, columns, squeeze=False, sharex=True, sharey=True)[0]
    room = width - _LEFT - _RIGHT
    figure.subplots_adjust(
        left=_LEFT / width,
        right=1 - _RIGHT / width,
        top=1 - above / height,
        bottom=below / height,
        wspace=_BETWEEN * columns / (room - _BETWEEN * (columns - 1)),
    )
    return list(made)


def add_title(figure: Figure, title: str, note: str = "") -> None:
    """Write a title, and a line in small print below it. Neither is parsed as a formula."""
    width, height = figure.get_size_inches()
    left, wider = 0.2 / width, width / 7
    heading = shortened(title, _LONGEST_TITLE * wider)
    figure.text(left, 1 - 0.32 / height, heading, size=12, weight="bold", parse_math=False)
    small = shortened(note, _LONGEST_NOTE * wider)
    figure.text(left, 1 - 0.54 / height, small, size=9, color=PALETTE.muted, parse_math=False)


def printable(text: str) -> str:
    """Return a text without characters that cannot be shown: line ends, control and broken characters."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def shortened(text: str, longest: float) -> str:
    """Return a text for one line. Of a long text, keep the end, where a path has its file name."""
    text = printable(text)
    return text if len(text) <= longest else f"…{text[len(text) - int(longest) + 1 :]}"


def file_bytes(figure: Figure, file_format: str) -> bytes:
    """Return the content of a file that shows the figure, in one of `FORMATS`."""
    stream = io.BytesIO()
    figure.savefig(stream, format=file_format, metadata=_METADATA[file_format])
    return stream.getvalue()


def page_svg(figure: Figure, prefix: str, meaning: str) -> str:
    """Return a figure as an SVG element for an HTML page.

    It uses the colours of the page: the custom properties ``--ink``, ``--paths`` and so on. All identifiers begin with
    `prefix`, so that those of two figures differ. `meaning` describes the figure for readers who cannot see it.
    """
    import html

    text = file_bytes(figure, "svg").decode("utf-8")
    text = text[text.index("<svg") :]
    # Texts are drawn as outlines. The SVG repeats them in comments, which are not needed.
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    for item in fields(PALETTE):
        text = text.replace(f": {getattr(PALETTE, item.name)}", f": var(--{item.name})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(meaning)}" ', 1)
