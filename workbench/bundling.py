"""An attempt as an evidence bundle: what `pike replay` judges again, on this machine or another."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from sessions.journal import Reader
from workbench import evaluator
from workbench.errors import CannotGoOn

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State

LIMIT_S = 60


def write(folder: SessionFolder, found: State, attempt: AttemptRecord, path: Path) -> bool:
    """Write an attempt's bundle; return whether its raw samples are kept on this machine, and so in it.

    Raises:
        CannotGoOn: the session has not begun, or the evaluator did not write the file.
    """
    if found.opened is None:
        raise CannotGoOn(f"{folder.name} has not begun: there is nothing to bundle yet.")
    with Reader(folder.journal) as reader:
        told: dict[str, Any] = {
            "task_id": found.opened.task,
            "task": reader.text(found.opened.source_key),
            "candidate": reader.text(attempt.source_key),
            "verdict": attempt.verdict,
            "folder": str(folder.artifacts),
        }
    done = subprocess.run(
        evaluator.command("bundle", str(path.absolute())),
        input=json.dumps(told).encode(),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CannotGoOn(lines[-1] if lines else f"no bundle was written to {path}.")
    return bool(json.loads(done.stdout).get("raw_samples"))
