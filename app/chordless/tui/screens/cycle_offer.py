"""The offer of the Cycles screen for a run that kept no cycles: to list them, or to draw some at random."""

from __future__ import annotations

from chordless.protocol.orders import RunCommand
from chordless.tui.cycle_words import is_too_many
from chordless.tui.run_form import kept_pick_of, listing_of, sample_of
from chordless.tui.screens.page import Page
from kernels_ti import ChordlessError


class OfferActions(Page):
    """The behaviour of a screen with a `CyclesOffer`."""

    def listing_command(self) -> RunCommand | None:
        """Return the command of a run that has ended without keeping its cycles; None if it is unknown."""
        session = getattr(self.app, "session", None)
        if session is None or session.is_at_work:
            return None
        try:
            command: RunCommand | None = session.known_command()
        except ChordlessError:
            return None
        return command

    def action_take_offer(self) -> None:
        """Start a run that lists the cycles, picks them again, or draws some of too many. This screen shows them."""
        command, state = self.listing_command(), self.dashboard.run_state
        if command is None or state is None:
            return
        make = sample_of if is_too_many(state) else listing_of
        self.begin_again(command, make if command.pick == "all" else kept_pick_of, show="cycles")
