"""The choice of the arch for a run. Beside each arch stands the device that this machine has for it."""

from __future__ import annotations

import asyncio

from textual import work
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from chordless.protocol.events import DeviceReport
from chordless.tui import probing
from chordless.tui.widgets.choice import Choice
from kernels_ti.choices import ARCHES

_WITHOUT_PROBE = {
    "auto": "CPU or CUDA",
    "reference": "plain Python, slow",
}
_WIDTH = 9
# Vulkan drivers that compute on the CPU.
_SOFTWARE = ("llvmpipe", "lavapipe", "swiftshader")
_SECONDS_UNTIL_PROBE = 0.3


class ArchField(Choice):
    """Radio buttons for the arches, `chosen` at first. After `look` it tests the arches one after the other, each once.

    `reports` are the results so far, by arch.
    """

    class Probed(Message):
        """An arch was tested."""

    def __init__(self, chosen: str) -> None:
        self.reports: dict[str, DeviceReport] = {}
        self._timer: Timer | None = None
        labels = {arch: _WITHOUT_PROBE.get(arch, "looking ...") for arch in ARCHES}
        super().__init__([(arch, f"{arch:<{_WIDTH}} {text}") for arch, text in labels.items()], chosen, id="arch")

    def look(self) -> None:
        """Test the remaining arches, after a short delay: a user who starts a run at once need not wait."""
        self.stop_looking()
        self._timer = self.set_timer(_SECONDS_UNTIL_PROBE, self._probe_all)

    def stop_looking(self) -> None:
        """Stop the tests, so that a run has the machine to itself."""
        if self._timer is not None:
            self._timer.stop()
        self.workers.cancel_node(self)

    @property
    def fault(self) -> str | None:
        """Why the chosen arch cannot be used here; None if it can, or was not tested yet."""
        report = self.reports.get(self.chosen)
        return None if report is None or report.available else f"{self.chosen} is {report.summary}"

    @work
    async def _probe_all(self) -> None:
        # One at a time, since a run may start meanwhile.
        worker = get_current_worker()
        for arch in ARCHES:
            if arch not in _WITHOUT_PROBE and arch not in self.reports:
                report = await asyncio.to_thread(probing.probe_arch, arch, lambda: worker.is_cancelled)
                if report is not None:
                    self._take(report)

    def _take(self, report: DeviceReport) -> None:
        self.reports[report.arch] = report
        if not self.children:
            # The dashboard is closing.
            return
        is_slow = report.arch == "vulkan" and any(name in report.summary.lower() for name in _SOFTWARE)
        # Its version would be cut.
        words = f"software, slow: {report.summary.partition(' (')[0]}" if is_slow else report.summary
        # It is greyed: that it is not available need not be said.
        words = words.removeprefix("not available here: ")
        self.relabel(report.arch, f"{report.arch:<{_WIDTH}} {words}", disabled=not report.available)
        self.post_message(self.Probed())
