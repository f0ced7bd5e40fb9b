"""Numbers for people: speedups, money, durations, sizes; one way of writing each."""

from __future__ import annotations

from datetime import UTC, datetime

NONE = "–"
"""What stands where there is no number."""


def ratio(value: float | None) -> str:
    """Return a speedup without its sign: `1.41`, `11.8`, `0.973`; three digits that count."""
    if value is None:
        return NONE
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def speedup(value: float | None) -> str:
    """Return a speedup: `1.41×`."""
    return NONE if value is None else f"{ratio(value)}×"


def interval(low: float | None, high: float | None) -> str:
    """Return a 98 % interval: `1.39–1.43`; nothing where it is unknown."""
    return "" if low is None or high is None else f"{ratio(low)}–{ratio(high)}"


def spread(value: float | None, low: float | None, high: float | None) -> str:
    """Return half the width of an interval: `±0.02`; nothing where it is unknown."""
    if value is None or low is None or high is None:
        return ""
    return f"±{max(high - value, value - low):.2f}"


def money(usd: float | None) -> str:
    """Return an amount: `$ 3.82`; `$ ?` where it is unknown, never zero."""
    return "$ ?" if usd is None else f"$ {amount(usd)}"


def amount(usd: float | None) -> str:
    """Return an amount without its sign; fractions of a cent are rounded up to where they show."""
    if usd is None:
        return "?"
    return f"{usd:.4f}" if 0 < usd < 0.01 else f"{usd:.2f}"


def milliseconds(ms: float | None) -> str:
    """Return a runtime in milliseconds, three digits that count: `0.173`, `2.05`, `41.2`."""
    if ms is None:
        return NONE
    if ms >= 100:
        return f"{ms:.0f}"
    return f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}" if ms >= 1 else f"{ms:.3f}"


def duration(seconds: float | None) -> str:
    """Return a time span in its two largest units at most: `4 s`, `12 min`, `3 h 20 min`, `2 d 4 h`."""
    if seconds is None:
        return NONE
    whole = int(max(0.0, seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        return _two(whole // 3600, "h", whole % 3600 // 60, "min")
    return _two(whole // 86_400, "d", whole % 86_400 // 3600, "h")


def seconds(value: float | None) -> str:
    """Return a short time with a decimal: `0.4 s`, `13 s`."""
    if value is None:
        return NONE
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def size(count: float | None) -> str:
    """Return a number of bytes: `512 B`, `41 MB`, `1.5 GB` (powers of 1,000)."""
    if count is None:
        return NONE
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a counted noun: `1 query`, `16 queries`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def utc(at: float) -> str:
    """Return a moment for exports: `2026-11-30 12:41:07Z`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def clock(at: float) -> str:
    """Return a moment of today for people, in their own time zone: `12:41:07`."""
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%H:%M:%S")


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first} {unit} {second} {smaller}" if second else f"{first} {unit}"
