"""The devices of this machine. Each arch is opened and tested in a separate engine, which then ends."""

from __future__ import annotations

import time
from collections.abc import Callable

from chordless.engine.process import EngineProcess
from chordless.protocol.events import DeviceReport, Failed
from chordless.protocol.orders import ProbeCommand
from kernels_ti import EngineError

_SECONDS = 60.0
_SECONDS_BETWEEN_LOOKS = 0.1


def probe_arch(arch: str, given_up: Callable[[], bool]) -> DeviceReport | None:
    """Open an arch, test it, and describe its device.

    `given_up` is called ten times a second; once it returns True, the engine is killed, and the answer is None.
    """
    deadline = time.monotonic() + _SECONDS
    try:
        with EngineProcess(ProbeCommand(arch)) as engine:
            while not given_up():
                event = engine.poll(_SECONDS_BETWEEN_LOOKS)
                if isinstance(event, DeviceReport):
                    return event
                if isinstance(event, Failed):
                    return DeviceReport(arch, available=False, message=event.message)
                if time.monotonic() > deadline:
                    return DeviceReport(arch, available=False, message=f"gave no answer in {_SECONDS:.0f} s")
    except EngineError as error:
        return DeviceReport(arch, available=False, message=str(error))
    return None
