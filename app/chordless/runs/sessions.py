"""The totals over the sessions of a run, which a checkpoint carries along and a result tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sessions:
    """Totals over the sessions of a run, and the device of the last one."""

    arch: str
    device: str
    # `setup_seconds` and `total_seconds`: sums over the sessions.
    setup_seconds: float
    total_seconds: float
    peak_memory_bytes: int  # Largest resident size of an engine in any session
    # Sum over the sessions of the time for the output and for checkpoints; 0 in checkpoints of version 0.4.0.
    write_seconds: float = 0.0
