"""Runs commands in this process, on a state folder of the test's own, with their output kept."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import Any

from workbench.cli import main
from workbench.printing import Printer


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


@dataclass
class Told:
    """What one command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return its stdout as one JSON value."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Return its stdout's lines."""
        return self.out.splitlines()


@dataclass
class Pike:
    """The command, typed."""

    terminal: bool = False
    history: list[str] = field(default_factory=list[str])

    def __call__(self, *words: str) -> Told:
        """Carry out one command line."""
        out, err = (Terminal() if self.terminal else io.StringIO()), io.StringIO()
        self.history.append(" ".join(words))
        code = main(words, Printer(out, err))
        return Told(code, out.getvalue(), err.getvalue())
