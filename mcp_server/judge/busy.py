"""How long this thread was ready to run and did not: what a busy machine takes from whoever holds the clock."""

from __future__ import annotations

from pathlib import Path

BUSY = 0.1
"""Share of the time by the wall; a quiet machine takes less than one in a hundred."""


def waited_s() -> float:
    """Return the seconds that this thread has waited for a core since it began; 0 where the kernel does not count."""
    try:
        fields = Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()
        return int(fields[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
