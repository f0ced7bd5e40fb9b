"""The raw evidence of right answers, copied into the session: copy its folder and you have it all."""

from __future__ import annotations

import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions import folder as folders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.folder import SessionFolder

FOLDER = "evidence"
"""In the state folder, and in a session's artifacts: `evidence/ab/abcdef….json.gz`."""


def keep(session: SessionFolder, result: Mapping[str, Any]) -> None:
    """Copy what the evaluator kept of a verdict; an evaluator on another machine keeps it there."""
    name = str(result.get("evidence_sha256") or "")
    if not name.isalnum():
        return
    place = Path(FOLDER, name[:2], f"{name}.json.gz")
    target = session.artifacts / place
    with suppress(OSError):  # a bundle without its raw samples is still a bundle
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
            shutil.copyfile(folders.root() / place, aside)
            aside.replace(target)  # in one step: a kill leaves no half of it
