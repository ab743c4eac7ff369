"""The offer of the Cycles screen for a run that kept no cycles: to list them, or to draw some at random."""

from __future__ import annotations

import contextlib

from chordless.graphs.readers.incoming import shown_name
from chordless.protocol.orders import RunCommand
from chordless.runs.directory import RunDirectory
from chordless.tui.cycle_words import is_too_many
from chordless.tui.messages import StartRun
from chordless.tui.run_form import listing_of, run_folder, sample_of, with_kept_graph
from chordless.tui.screens.page import Page
from kernels_ti import ChordlessError


class OfferActions(Page):
    """The behaviour of a screen with a `CyclesOffer`."""

    def listing_command(self) -> RunCommand | None:
        """Return the command of a run that has ended without keeping its cycles; None if it is unknown."""
        session = getattr(self.app, "session", None)
        if session is None or session.is_at_work:
            return None
        command: RunCommand | None = session.command
        if command is None and session.directory is not None:
            with contextlib.suppress(ChordlessError):
                command = RunDirectory(session.directory).command()
        return command

    def on_cycles_offer_taken(self) -> None:
        """Start a run that lists the cycles, or draws some of too many. This screen shows them."""
        command, app = self.listing_command(), self.dashboard
        if command is None or app.run_state is None:
            return
        folder = run_folder(app.settings.runs_folder, shown_name(command.graph))
        try:
            command = with_kept_graph(command)
        except ChordlessError as error:
            self.notify(str(error), severity="error", timeout=15)
            return
        make = sample_of if is_too_many(app.run_state) else listing_of
        self.post_message(StartRun(make(command, folder), show="cycles"))
