"""What the New screen says of the graph before the start: its preview, the estimate, and the way that it advises."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from chordless.protocol.orders import RunCommand
from chordless.tui.actions import key_of
from chordless.tui.run_form import bounds_of, command_of, expanded, faults_of, graph_source
from chordless.tui.run_list import counted_before, counted_words
from chordless.tui.screens.page import Page
from chordless.tui.settings import LastChoices
from chordless.tui.widgets.choice import Choice
from chordless.tui.widgets.graph_preview import GraphPreview, PreviewQuestion
from chordless.tui.widgets.graph_source import GraphSource
from chordless.tui.widgets.recent_runs import RecentRuns
from chordless.words.numbers import CycleRange

if TYPE_CHECKING:
    from chordless.runs.history import RunSummary
    from chordless.tui.outlook import Outlook

OTHER_WAY = {"count": "boundary", "boundary": "count"}
"""For each way to count the other one."""
_WAYS = {"count": "search", "boundary": "boundary"}


class PreviewedForm(Page):
    """The part of the New screen that looks ahead.

    `_way` is the chosen way to count, `_is_advised` whether an estimate has chosen it, and `_chosen_for` the graph for
    which the user has chosen one. `_before` are the runs that have counted the cycles of the last preview.
    """

    _way = ""
    _is_advised = False
    _chosen_for: str | None = None
    _before: Sequence[RunSummary] = ()

    def _choices(self) -> LastChoices:
        raise NotImplementedError

    def _faults_of_ends(self, choices: LastChoices) -> dict[str, str]:
        raise NotImplementedError

    @property
    def _is_estimated(self) -> bool:
        """Whether the estimate of the typed graph is there, as far as there is one."""
        return self.query_one(GraphSource).is_known and self.query_one(GraphPreview).is_estimated

    @property
    def _outlook(self) -> Outlook | None:
        """The estimate, in which a search that was made before stands for the one that is estimated."""
        outlook = self.query_one(GraphPreview).outlook
        searches = (run for run in self._before if run.command is not None and run.command.method == "search")
        search = next(searches, None)
        if outlook is None or search is None:
            return outlook
        found = CycleRange(search.cycles, search.cycles, search.cycles, exact=True)
        return replace(outlook, cycles=found, seconds=search.seconds, is_last=True)

    def _advise(self) -> None:
        """Choose the count along a boundary where a search takes very long, unless the user has chosen a way."""
        choices, outlook = self._choices(), self._outlook
        if choices.find != self._way:
            self._way, self._is_advised, self._chosen_for = choices.find, False, choices.graph
        if self._way not in OTHER_WAY or choices.graph == self._chosen_for:
            return
        is_long = outlook is not None and outlook.begins_along_boundary and bool(self._times(choices))
        if is_long if self._way == "count" else self._is_advised and not is_long:
            self._way, self._is_advised = OTHER_WAY[self._way], is_long
            self.query_one("#what", Choice).choose(self._way)

    def _times(self, choices: LastChoices) -> str:
        """Return the times of both ways to count, and the key of the other way; "" if only one comes into question."""
        outlook, other = self._outlook, OTHER_WAY.get(choices.find)
        if outlook is None or other is None or choices.limit.strip() or faults_of(replace(choices, find=other)):
            return ""
        times = outlook.both_times(choices.find)
        return f"{times} {key_of(self, 'new.other_way')} takes the {_WAYS[other]}." if times else ""

    def _preview(self, source: GraphSource) -> None:
        """Draw and estimate the graph that the fields name, if it could be read."""
        preview, question = self.query_one(GraphPreview), source.question
        self._before = self._counted_before()
        if not source.is_known:
            # The facts are those of the graph before.
            preview.leave(question.text)
            return
        if source.facts is not None:
            choices = self._choices()
            path = Path(expanded(question.text))
            changed = path.stat().st_mtime if os.path.isfile(path) else None
            command = None
            if not self._faults_of_ends(choices):
                command = RunCommand(
                    *(question.text, 0.0),
                    **bounds_of(choices, source.facts.shortest),
                    parity=choices.only_parity,
                    between=choices.between,
                    all_pairs=choices.all_pairs,
                )
            graph = (question.text, question.reading, question.types, changed)
            preview.show(PreviewQuestion(graph, command), source.facts)
            preview.tell_known(counted_words(self._before[0]) if self._before else "")
            along_boundary, at_one_end = choices.find == "boundary", choices.expansion == "paper"
            preview.tell_way(breadth_first=at_one_end, along_boundary=along_boundary, picks=choices.picks)
        elif source.fault is not None:
            preview.show(None, None)
            preview.tell_known("")

    def _counted_before(self) -> list[RunSummary]:
        """Return the runs that have counted the same cycles, the fastest first."""
        choices = replace(self._choices(), find="count", limit="", directory="")
        question = self.query_one(GraphSource).question
        if faults_of(choices):
            return []
        asked = command_of(choices, graph_source(choices.graph), None, reading=question.reading, types=question.types)
        return counted_before(self.query_one(RecentRuns).runs, asked)

    def _expected(self, choices: LastChoices) -> CycleRange | None:
        """Return the estimate that the screen shows, where the run searches for all these cycles."""
        finds_all = choices.find in ("count", "list") and not choices.limit.strip()
        outlook = self._outlook
        return outlook.cycles if finds_all and outlook is not None else None
