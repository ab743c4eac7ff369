"""Numbers for people: durations, memory, rates, estimates, shares, and which lengths were asked for."""

from __future__ import annotations

import math

_UNITS = "kMGTP"
_YEAR = 365.25 * 86400
_TRIANGLE = 3


def seconds_text(seconds: float) -> str:
    """Return a duration for people: ``0.5 ms``, ``34 ms``, ``12.3 s``, ``4 min 05 s``, ``3 h 12 min``."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.{0 if seconds >= 0.01 else 1}f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 6000:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def bytes_text(size: int) -> str:
    """Return an amount of memory for people."""
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if amount >= 100 or unit == "bytes" else f"{amount:.1f} {unit}"


def short_number(value: float) -> str:
    """Return a rate in four characters or so: ``950``, ``12.3 k``, ``4.56 M``."""
    if value < 1000:
        return f"{value:.0f}"
    power = min(int(math.log10(value) / 3), len(_UNITS))
    return f"{value / 1000**power:.3g} {_UNITS[power - 1]}"


def round_number(value: float) -> str:
    """Return an estimate with two digits, as short as it goes: ``950``, ``7.2e7``."""
    if value < 1000:
        return f"{value:.0f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def share_text(share: float) -> str:
    """Return a share of a search in per cent, never rounded up: ``0.02%``, ``12%``; 100% is the end."""
    per_cent = 100 * share
    if per_cent >= 10:
        return f"{int(per_cent)}%"
    places = 1 if per_cent >= 1 else 2
    if per_cent < 0.01:
        return "<0.01%"
    return f"{int(per_cent * 10**places) / 10**places:.{places}f}%"


def lengths_text(min_length: int, max_length: int | None) -> str:
    """Return which cycles bounds on the length leave: ``cycles of 5 to 8 vertices``; "" where they leave all."""
    if max_length == min_length:
        return f"cycles of {min_length} vertices"
    if max_length is not None:
        return f"cycles of {min_length} to {max_length} vertices"
    return f"cycles of {min_length} or more vertices" if min_length > _TRIANGLE else ""


def count_text(value: float) -> str:
    """Return an estimated count in a few characters: ``950``, ``7.2e7``, ``over 1e308``."""
    return round_number(value) if math.isfinite(value) else "over 1e308"


def duration_text(seconds: float) -> str:
    """Return an estimated duration for people, in two digits: ``12 s``, ``3.4 minutes``, ``1.2e9 years``."""
    if not math.isfinite(seconds):
        return "longer than can be said"
    if seconds < 1:
        return f"{max(1000 * seconds, 1):.0f} ms"
    for name, unit, end in (("s", 1, 100), ("minutes", 60, 100), ("hours", 3600, 48), ("days", 86400, 400)):
        if seconds < end * unit:
            return f"{float(f'{seconds / unit:.2g}'):g} {name}"
    return f"{count_text(float(f'{seconds / _YEAR:.2g}'))} years"
