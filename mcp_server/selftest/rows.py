"""What came of a case of the self-test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a case."""

    id: str
    kind: str
    expected: str
    got: str
    passed: bool | None
    """None if it was skipped."""
    seconds: float
    cause: str = ""
