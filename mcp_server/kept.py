"""JSON objects kept in files: written whole or not at all, and absent where they cannot be read."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

from mcp_server.errors import StateUnusable
from mcp_server.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from mcp_server.link import Message


def read(path: Path) -> Message | None:
    """Return the object in a file, None where there is none to be read."""
    try:
        kept: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return cast("Message", kept) if isinstance(kept, dict) else None


def write(path: Path, value: Message) -> None:
    """Keep an object; a folder that cannot be written costs time later, nothing else."""
    with suppress(OSError, ValueError):
        write_whole(path, json.dumps(value))


def store(path: Path, value: object) -> None:
    """Write what a person entrusted to us.

    Raises:
        StateUnusable: the folder cannot be written.
    """
    try:
        write_whole(path, json.dumps(value, indent=1) + "\n")
    except OSError as error:
        raise _unusable(path, error) from error


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Hold a file against other processes that change it, for the length of the block.

    Raises:
        StateUnusable: the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("a", encoding="utf-8")
    except OSError as error:
        raise _unusable(path, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unusable(path: Path, error: OSError) -> StateUnusable:
    return StateUnusable(
        f"{path} cannot be written ({error.strerror}): set PIKE_HOME to a folder of yours."
    )
