"""The change between two sources as a patch that `git apply` and `patch` read."""

from __future__ import annotations

import difflib


def patch(before: str, after: str, before_name: str, after_name: str, context: int = 3) -> str:
    """Return the change from one source to the other; empty where they are the same.

    Names are written as given, but for line breaks, which would end the header. `context`: unchanged lines around each
    change.
    """
    before_name, after_name = (" ".join(name.split()) for name in (before_name, after_name))
    sides = (_lines(before), _lines(after))
    lines = difflib.unified_diff(*sides, before_name, after_name, n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Return the lines as git counts them: ended by a line feed and by nothing else."""
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended
