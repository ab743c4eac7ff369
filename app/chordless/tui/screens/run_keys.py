"""The keys that the Run screen offers in its footer, those that are possible now; and those of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.binding import ActiveBinding, Binding

from chordless.runs.state import RunState
from chordless.tui.screens.page import Page

if TYPE_CHECKING:
    from chordless.tui.feeds import ReplayFeed
    from chordless.tui.session import RunSession

OF_REPLAY = frozenset({"rewind", "forward", "slower", "faster"})
"""The names of the actions on a replay."""
_STEP_OF_REPLAY, _SECONDS_IF_UNKNOWN = 1 / 20, 200.0


class RunKeys(Page):
    """The Run screen's footer shows only what is possible. All keys stay bound: the others say why they do nothing."""

    _offered: Mapping[str, str] = MappingProxyType({})

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The key bindings. The footer shows those that are possible now. The other keys say why they are not."""
        return {
            key: active._replace(binding=self._as_offered(active.binding)) if active.node is self else active
            for key, active in super().active_bindings.items()
        }

    def _as_offered(self, binding: Binding) -> Binding:
        title = self._offered.get(binding.action)
        return replace(binding, show=title is not None, description=title or binding.description)

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


def offers_of(
    session: RunSession | None, state: RunState | None, *, frozen: bool, stopping: bool, by_step: bool
) -> dict[str, str]:
    """Return the possible actions, each with another title for the footer, or "".

    `frozen` says whether the view is frozen, `stopping` whether the run was told to stop, `by_step` whether the chart
    shows the states by step.
    """
    if session is None or state is None:
        return {}
    if session.replay is not None:
        title = "Again" if session.replay.has_ended else "Play" if session.replay.paused else "Pause"
        return {"pause": title, "rewind": "", "forward": "", "scale": ""}
    steps = {"by_step": "By length" if by_step else "By step"} if state.expected_by_step else {}
    is_known = session.directory is not None or session.command is not None
    if is_known and state.states is None and state.options.get("expansion") != "paper":
        steps["breadth_first"] = ""
    if session.is_at_work and session.can_control and stopping:
        return {**({"stop": "Stop now"} if session.owns_engine else {}), "freeze": "", **steps}
    if session.is_at_work and session.can_control:
        keep = {} if session.directory is None else {"checkpoint": ""}
        return {"pause": "Go on" if state.phase == "paused" else "", "stop": "", **keep, "freeze": "", **steps}
    offers = {"scale": "", **steps}
    if session.is_at_work or frozen:
        offers["freeze"] = ""
    if not session.is_at_work and session.directory is not None:
        offers["pause"] = "Replay"
    if state.can_resume:
        offers["resume"] = ""
    return offers
