"""What the workbench asks the evaluator: JSON from a subprocess, since the evaluator is never imported here."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from workbench.errors import CannotGoOn, WrongUsage
from workbench.plain import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSWER_LIMIT_S = 120
"""The machine and the tasks answer in about a second; a first look at a sandbox may take longer."""


def command(*words: str) -> list[str]:
    """Return a command line of the evaluator. `-P`: a folder of the user's must not shadow our rooms."""
    return [sys.executable, "-P", "-m", "mcp_server", *words]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a plain command of the evaluator printed."""

    json: Any
    exit_code: int
    said: str = ""
    """What it said beside the data; foreign."""


def ask(*words: str) -> Any:
    """Return the JSON that `python -m mcp_server WORDS` prints, whether it found all well or not.

    Raises:
        WrongUsage: it refused the words.
        CannotGoOn: it failed, or printed no JSON.
    """
    return answer(*words).json


def answer(*words: str, limit_s: float | None = ANSWER_LIMIT_S) -> Answer:
    """Return what `python -m mcp_server WORDS` prints, and how it ended.

    Raises:
        WrongUsage: it refused the words.
        CannotGoOn: it failed, or printed no JSON.
    """
    try:
        done = subprocess.run(command(*words), capture_output=True, timeout=limit_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotGoOn(f"the evaluator does not answer: {error}") from error
    if done.returncode and not done.stdout.strip():
        raise _refusal(words, done.returncode, done.stderr)
    return Answer(_parsed(done.stdout), done.returncode, done.stderr.decode("utf-8", "replace"))


def machine(python: str = "") -> list[dict[str, Any]]:
    """Return what this machine has, as the evaluator sees it: `name`, `state`, `found`, `remedy` of each thing."""
    return rows(ask("doctor", "--json", *flags(python=python)))


def tasks(named: str = "") -> list[dict[str, Any]]:
    """Return every task's row, or of those that a name may mean; each has `id`."""
    return rows(ask("tasks", *flags(find=named), "--json"))


def rows(found: Any) -> list[dict[str, Any]]:
    """Return the objects of a JSON list; nothing where it is none."""
    return cast("list[dict[str, Any]]", found) if isinstance(found, list) else []  # JSON


def flags(**values: str) -> list[str]:
    """Return `--name value` for each value that is set."""
    pairs = [(f"--{name}", value) for name, value in values.items() if value]
    return [word for pair in pairs for word in pair]


def run(words: Sequence[str]) -> int:
    """Run the evaluator on this terminal; return its exit code."""
    return subprocess.run(command(*words), check=False).returncode


def _parsed(output: bytes) -> Any:
    try:
        return json.loads(output)
    except ValueError as error:
        said = first_line(output.decode("utf-8", "replace"), 200)
        raise CannotGoOn(f"the evaluator answered no JSON: {said}") from error


def _refusal(words: Sequence[str], code: int, stderr: bytes) -> Exception:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = lines[-1].strip() if lines else f"`mcp_server {words[0]}` ended with {code}"
    kind = WrongUsage if code == 2 else CannotGoOn
    return kind(said.removeprefix("mcp_server: ").removeprefix("pike: "))
