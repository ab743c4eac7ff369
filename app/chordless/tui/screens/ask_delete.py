"""The question that is asked before the folder of a run is deleted."""

from __future__ import annotations

from collections.abc import Sequence

from chordless.runs.history import RunSummary
from chordless.tui.run_list import thing_of_run, title, with_home
from chordless.tui.screens.question import Question
from chordless.words.numbers import bytes_text
from kernels_ti.errors import quantity

_MOST_NAMED = 3


class AskDelete(Question):
    """Asks whether to delete a run; `foreign` files of its folder do not belong to it."""

    def __init__(self, run: RunSummary, foreign: Sequence[str]) -> None:
        super().__init__("\n".join(_question(run, foreign)), "Yes, delete", no="No, keep it", variant="error")


def _question(run: RunSummary, foreign: Sequence[str]) -> list[str]:
    thing = thing_of_run(run)
    what = quantity(run.listed, f"listed {thing}") if run.lists else f"the counts of {quantity(run.cycles, thing)}"
    lines = [
        f"Delete the run of {title(run)}?",
        "",
        with_home(run.path.resolve()),
        f"is deleted for good, with {what}.",
        f"That frees {bytes_text(run.disk_bytes)} of the disk.",
    ]
    if foreign:
        more = f" and {len(foreign) - _MOST_NAMED} more" if len(foreign) > _MOST_NAMED else ""
        lines += ["", f"! It also deletes what no run has made: {', '.join(foreign[:_MOST_NAMED])}{more}"]
    return [*lines, ""]
