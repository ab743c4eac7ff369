"""The roster: the workers of a cluster that a search has seen, and what each did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Literal

from kernels_ti.cluster.on_worker import Answer, Readiness

Standing = Literal["preparing", "ready", "silent", "refused", "failing", "gone"]

_MOST_FAILURES = 5  # a worker has two leases at a time


@dataclass(frozen=True)
class WorkerView:
    """One worker, as its driver sees it."""

    address: str
    device: str  # Arch and name of its device; "" until it is ready
    standing: str  # ``searching``, ``idle``, ``preparing``, ``silent``, ``refused``, ``failing`` or ``gone``
    paths: int  # Chordless paths that its answers counted
    seconds: float  # Time that its leases took
    leases: int  # Answers taken
    transfer_seconds: float  # Time between giving its leases and taking their answers in which it did not search
    bytes_sent: int  # Of the frames that it was sent
    bytes_back: int  # Of the frames and cycles in its answers
    share: float  # Of all counted paths, 0 to 1
    memory_bytes: int  # Of its process at its last answer
    failure: str  # Its last failure or refusal; "" if there is none
    device_seconds: float  # To open its device
    kernel_seconds: float  # To compile or load its kernels


@dataclass
class _Entry:
    standing: Standing = "preparing"
    device: str = ""
    paths: int = 0
    seconds: float = 0.0
    leases: int = 0
    transfer_seconds: float = 0.0
    bytes_sent: int = 0
    bytes_back: int = 0
    memory_bytes: int = 0
    failure: str = ""
    failures: int = 0
    device_seconds: float = 0.0
    kernel_seconds: float = 0.0


class Roster:
    """The workers that were ever seen, by address."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def new(self, here: Iterable[str]) -> list[str]:
        """Enter the workers that are here and were not; return their addresses."""
        new = [address for address in here if self._standing(address) == "gone"]
        for address in new:
            entry = self._entries.setdefault(address, _Entry())
            entry.standing, entry.failures = "preparing", 0
        return new

    def gone(self, here: Collection[str]) -> list[str]:
        """Mark the workers that are not here any more; return their addresses."""
        gone = [each for each, entry in self._entries.items() if entry.standing != "gone" and each not in here]
        for address in gone:
            self._entries[address].standing = "gone"
        return gone

    def forget(self, address: str) -> None:
        """Treat a worker as if it had not been seen yet: it has to prepare itself again."""
        self._entries[address].standing = "gone"

    def ready(self, address: str, readiness: Readiness) -> None:
        """Note that a worker is prepared."""
        entry = self._entries[address]
        entry.standing, entry.device = "ready", readiness.device
        entry.device_seconds, entry.kernel_seconds = readiness.device_seconds, readiness.kernel_seconds

    def refused(self, address: str, why: str) -> None:
        """Note that a worker cannot be used."""
        entry = self._entries[address]
        entry.standing, entry.failure = "refused", why

    def failed(self, address: str, why: str) -> None:
        """Note that a lease failed; a worker on which several fail is not used any more."""
        entry = self._entries[address]
        entry.failure, entry.failures = why, entry.failures + 1
        if entry.failures >= _MOST_FAILURES:
            entry.standing = "failing"

    def silent(self, address: str) -> None:
        """Note that a worker does not answer."""
        entry = self._entries[address]
        entry.standing, entry.failure = "silent", "it does not answer"

    def answered(self, address: str, answer: Answer, seconds: float, bytes_sent: int) -> None:
        """Add an answer to the account of a worker, `seconds` after its lease was given with so many bytes."""
        entry = self._entries[address]
        entry.paths += sum(answer.paths_by_length.values())
        entry.seconds += answer.seconds
        entry.leases += 1
        entry.transfer_seconds += max(seconds - answer.seconds, 0.0)
        entry.bytes_sent += bytes_sent
        entry.bytes_back += answer.nbytes
        entry.failures = 0
        entry.memory_bytes = answer.memory_bytes

    def usable(self) -> list[str]:
        """Return the workers that can have a lease."""
        return [address for address, entry in self._entries.items() if entry.standing == "ready"]

    def waits(self) -> bool:
        """Whether no worker was seen yet, or some are still preparing themselves."""
        return not self._entries or any(entry.standing == "preparing" for entry in self._entries.values())

    def any_usable(self) -> bool:
        """Whether some worker is ready, or may become so."""
        return any(entry.standing in ("ready", "preparing", "silent") for entry in self._entries.values())

    def awaited(self) -> dict[str, Standing]:
        """Return the workers that may become ready, with their standing."""
        may = ("preparing", "silent")
        return {address: entry.standing for address, entry in self._entries.items() if entry.standing in may}

    def refusals(self) -> list[str]:
        """Return the words with which workers that are here refused or failed, with their addresses."""
        bad = ("refused", "failing")
        return [f"{address}: {entry.failure}" for address, entry in self._entries.items() if entry.standing in bad]

    def devices(self) -> str:
        """Return the devices of the workers that are ready, such as ``2 workers: cpu Intel Xeon``."""
        ready = Counter(entry.device for entry in self._entries.values() if entry.device and entry.standing == "ready")
        count = ready.total()
        kinds = ", ".join(device if len(ready) == 1 else f"{number} x {device}" for device, number in ready.items())
        return f"{count} worker{'' if count == 1 else 's'}{': ' if kinds else ''}{kinds}"

    def views(self, searching: Collection[str]) -> tuple[WorkerView, ...]:
        """Return all workers; those in `searching` have a lease."""
        paths = sum(entry.paths for entry in self._entries.values())
        views = []
        for address, entry in self._entries.items():
            ready = "searching" if address in searching else "idle"
            standing = ready if entry.standing == "ready" else entry.standing
            share = entry.paths / paths if paths else 0.0
            known = {**vars(entry), "address": address, "standing": standing, "share": share}
            views.append(WorkerView(**{item.name: known[item.name] for item in fields(WorkerView)}))
        return tuple(views)

    def _standing(self, address: str) -> Standing:
        return self._entries[address].standing if address in self._entries else "gone"
