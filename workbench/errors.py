"""What a command may refuse, as one family; every message is for a person.

```
WorkbenchError
├── WrongUsage     what was typed cannot be meant: exit code 2
└── CannotGoOn     the machine, a session or a model stands in the way: exit code 1
```
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
"""The exit codes of every command."""


class WorkbenchError(Exception):
    """A refusal; its text says what happened, to which thing, and what to do next."""

    exit_code = FAILED


class WrongUsage(WorkbenchError):
    """What was typed names nothing, or contradicts itself."""

    exit_code = USAGE


class CannotGoOn(WorkbenchError):
    """Something outside the command line is missing or broken."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the nearest known word, or nothing."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
