"""The task of a session that was carried here: a person's own file, which this machine may never have seen."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.models.files import write_whole

if TYPE_CHECKING:
    from sessions.facts import Opened
    from sessions.folder import SessionFolder

log = logging.getLogger(__name__)

OWN = "local/"


def bring(folder: SessionFolder, opened: Opened) -> None:
    """Make the session's copy of a person's task known to the evaluator of this machine, under the same id.

    A task of a suite is not brought: where the suite is missing, the evaluator says so.
    """
    suite, _, name = opened.task.rpartition("/")
    kept = folders.root() / "tasks" / f"{name}.py"
    if f"{suite}/" != OWN or not folders.NAME.match(name) or kept.exists():
        return
    try:
        source = (folder.task / f"{name}.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        log.warning("the session's copy of its task cannot be read: %s", error)
        return
    if hashlib.sha256(source.encode()).hexdigest() != opened.task_sha256:
        log.warning("the session's copy of its task is not the text it began with")
        return
    write_whole(kept, source)
