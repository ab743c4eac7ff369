"""The choice of the arch for a run. Beside each arch stands the device that this machine has for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual import work
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport
from chordless.protocol.orders import ProbeCommand
from chordless.tui.widgets.choice import Choice
from kernels_ti import EngineError
from kernels_ti.choices import ARCHES

_WITHOUT_PROBE = {"auto": "CPU or CUDA", "reference": "plain Python, slow"}
_WIDTH = 9
# Vulkan drivers that compute on the CPU.
_SOFTWARE = ("llvmpipe", "lavapipe", "swiftshader")
_SECONDS_UNTIL_PROBE, _LONGEST_PROBE = 0.3, 60.0
_SECONDS_BETWEEN_LOOKS = 0.1


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
                report = await asyncio.to_thread(probe_arch, arch, lambda: worker.is_cancelled)
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


def probe_arch(arch: str, given_up: Callable[[], bool]) -> DeviceReport | None:
    """Open an arch, test it, and describe its device, all in a separate engine, which then ends.

    `given_up` is called ten times a second; once it returns True, the engine is killed, and the answer is None.
    """
    deadline, message = time.monotonic() + _LONGEST_PROBE, f"gave no answer in {_LONGEST_PROBE:.0f} s"
    try:
        with EngineProcess(ProbeCommand(arch)) as engine:
            while time.monotonic() < deadline:
                if given_up():
                    return None
                answer = engine.answer(_SECONDS_BETWEEN_LOOKS)
                if isinstance(answer, DeviceReport):
                    return answer
                if answer is not None:
                    message = answer.message
                    break
    except EngineError as error:
        message = str(error)
    return DeviceReport(arch, available=False, message=message)
