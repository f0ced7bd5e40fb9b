"""How the numbers of a report are written: for people in cells, for programs in named fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import format as fmt
from workbench.plain import inert_line

if TYPE_CHECKING:
    from sessions.report_means import Estimate
    from sessions.report_statistics import Interval, Measured


def short(text: str, limit: int) -> str:
    """Return a foreign name on one line, cut in its middle: what sets names apart is at both ends."""
    line = inert_line(text)
    if len(line) <= limit:
        return line
    end = (limit - 1) // 2
    return f"{line[: limit - 1 - end]}…{line[-end:]}"


def times(value: float | None) -> str:
    """Return a speedup or a ratio of two: `1.41×`."""
    return fmt.speedup(value)


def percent(share: float | None) -> str:
    """Return a share: `82 %`."""
    return fmt.NONE if share is None else f"{100 * share:.0f} %"


def precision(name: str) -> str:
    """Return a precision class as people write it."""
    return inert_line(name, 20).replace("_", "/") or fmt.NONE


def interval_words(found: Interval | None) -> str:
    """Return an interval: `1.39–1.43`."""
    return fmt.interval(found.low, found.high) if found else fmt.NONE


def estimate_words(found: Estimate | None) -> str:
    """Return a mean with how sure it is: `1.41× (repeats 1.2–1.6; timing 1.40–1.42)`."""
    if found is None:
        return fmt.NONE
    known = [("repeats", found.repeats), ("timing", found.measurement)]
    told = "; ".join(f"{word} {interval_words(ends)}" for word, ends in known if ends)
    return f"{times(found.value)} ({told})" if told else times(found.value)


def measured_words(found: Measured) -> str:
    """Return a speedup with its 98 % interval: `1.41× 1.39–1.43`."""
    return f"{times(found.value)} {fmt.interval(found.low, found.high)}".strip()


def interval_fields(found: Interval | None, prefix: str) -> dict[str, Any]:
    """Return an interval as fields."""
    return {
        f"{prefix}low": found.low if found else None,
        f"{prefix}high": found.high if found else None,
    }


def measured_fields(found: Measured | None, prefix: str) -> dict[str, Any]:
    """Return a measured speedup as fields."""
    return {
        f"{prefix}speedup": found.value if found else None,
        f"{prefix}low": found.low if found else None,
        f"{prefix}high": found.high if found else None,
    }


def estimate_fields(found: Estimate | None, prefix: str = "") -> dict[str, Any]:
    """Return a mean as fields."""
    return {
        f"{prefix}speedup": found.value if found else None,
        **interval_fields(found.repeats if found else None, f"{prefix}repeats_"),
        **interval_fields(found.measurement if found else None, f"{prefix}measurement_"),
        f"{prefix}tasks": found.tasks if found else 0,
        f"{prefix}runs": found.runs if found else 0,
        f"{prefix}runs_found": found.found if found else 0,
        f"{prefix}runs_asked": found.asked if found else 0,
    }
