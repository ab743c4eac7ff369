"""The roster: the workers of a cluster that a search has seen, and what each did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from kernels_ti.cluster.on_worker import Answer, Readiness

_MOST_FAILURES = 5  # a worker has two leases at a time


@dataclass(frozen=True)
class WorkerView:
    """One worker, as its driver sees it."""

    address: str
    device: str = ""  # Arch and name of its device; "" until it is ready
    # ``searching``, ``idle``, ``preparing``, ``silent``, ``refused``, ``failing`` or ``gone``; in the roster ``ready``
    # stands for the first two
    standing: str = "preparing"
    paths: int = 0  # Chordless paths that its answers counted
    seconds: float = 0.0  # Time that its leases took
    leases: int = 0  # Answers taken
    transfer_seconds: float = 0.0  # Between giving its leases and taking their answers in which it did not search
    bytes_sent: int = 0  # Of the frames that it was sent
    bytes_back: int = 0  # Of the frames and cycles in its answers
    share: float = 0.0  # Of all counted paths, 0 to 1
    memory_bytes: int = 0  # Of its process at its last answer
    failure: str = ""  # Its last failure or refusal; "" if there is none
    device_seconds: float = 0.0  # To open its device
    kernel_seconds: float = 0.0  # To compile or load its kernels


class Roster:
    """The workers that were ever seen, by address."""

    def __init__(self) -> None:
        self._entries: dict[str, WorkerView] = {}
        self._failures: Counter[str] = Counter()

    def note(self, address: str, **changes: Any) -> None:
        """Change what is known of a worker."""
        self._entries[address] = replace(self._entries[address], **changes)

    def new(self, here: Iterable[str]) -> list[str]:
        """Enter the workers that are here and were not; return their addresses."""
        new = [each for each in here if each not in self._entries or self._entries[each].standing == "gone"]
        for address in new:
            self._entries.setdefault(address, WorkerView(address))
            self.note(address, standing="preparing")
            self._failures[address] = 0
        return new

    def gone(self, here: Collection[str]) -> list[str]:
        """Mark the workers that are not here any more; return their addresses."""
        gone = [each for each, entry in self._entries.items() if entry.standing != "gone" and each not in here]
        for address in gone:
            self.forget(address)
        return gone

    def forget(self, address: str) -> None:
        """Treat a worker as if it had not been seen yet: it has to prepare itself again."""
        self.note(address, standing="gone")

    def ready(self, address: str, readiness: Readiness) -> None:
        """Note that a worker is prepared."""
        self.note(
            address,
            standing="ready",
            device=readiness.device,
            device_seconds=readiness.device_seconds,
            kernel_seconds=readiness.kernel_seconds,
        )

    def failed(self, address: str, why: str) -> None:
        """Note that a lease failed; a worker on which several fail is not used any more."""
        self.note(address, failure=why)
        self._failures[address] += 1
        if self._failures[address] >= _MOST_FAILURES:
            self.note(address, standing="failing")

    def answered(self, address: str, answer: Answer, seconds: float, bytes_sent: int) -> None:
        """Add an answer to the account of a worker, `seconds` after its lease was given with so many bytes."""
        entry = self._entries[address]
        self.note(
            address,
            paths=entry.paths + sum(answer.paths_by_length.values()),
            seconds=entry.seconds + answer.seconds,
            leases=entry.leases + 1,
            transfer_seconds=entry.transfer_seconds + max(seconds - answer.seconds, 0.0),
            bytes_sent=entry.bytes_sent + bytes_sent,
            bytes_back=entry.bytes_back + answer.nbytes,
            memory_bytes=answer.memory_bytes,
        )
        self._failures[address] = 0

    def usable(self) -> list[str]:
        """Return the workers that can have a lease."""
        return list(self.having("ready"))

    def waits(self) -> bool:
        """Whether no worker was seen yet, or some are still preparing themselves."""
        return not self._entries or bool(self.having("preparing"))

    def having(self, *standings: str) -> dict[str, WorkerView]:
        """Return the workers that have one of some standings."""
        return {address: entry for address, entry in self._entries.items() if entry.standing in standings}

    def devices(self) -> str:
        """Return the devices of the workers that are ready, such as ``2 workers: cpu Intel Xeon``."""
        ready = Counter(entry.device for entry in self.having("ready").values() if entry.device)
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
            views.append(replace(entry, standing=standing, share=entry.paths / paths if paths else 0.0))
        return tuple(views)
