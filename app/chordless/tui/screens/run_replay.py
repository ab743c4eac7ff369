"""The actions on a replay of the Run screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chordless.tui.screens.page import Page

if TYPE_CHECKING:
    from chordless.tui.feeds import ReplayFeed

OF_REPLAY = frozenset({"rewind", "forward", "slower", "faster"})
"""The names of these actions."""
_STEP_OF_REPLAY, _SECONDS_IF_UNKNOWN = 1 / 20, 200.0


class ReplayActions(Page):
    """The part of the Run screen that moves a replay."""

    @property
    def _replay(self) -> ReplayFeed | None:
        session = self.dashboard.session
        return None if session is None else session.replay

    def action_rewind(self) -> None:
        """Go back in the replay."""
        self._seek(-_STEP_OF_REPLAY)

    def action_forward(self) -> None:
        """Go on in the replay."""
        self._seek(_STEP_OF_REPLAY)

    def action_slower(self) -> None:
        """Play the replay at half the speed."""
        if (replay := self._replay) is not None:
            replay.hurry(1 / 2)

    def action_faster(self) -> None:
        """Play the replay at twice the speed."""
        if (replay := self._replay) is not None:
            replay.hurry(2)

    def _seek(self, share: float) -> None:
        if (replay := self._replay) is not None:
            replay.seek(share * (replay.length or _SECONDS_IF_UNKNOWN))
