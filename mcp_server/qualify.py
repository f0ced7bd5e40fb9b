"""What judges measured of a task, kept between runs: one JSON file per task, policy, device, torch and driver.

A qualification says that the task rejects wrong answers here, how exact an answer must be, and how fast the baselines
are. Whatever could change those is in the key.
"""

from __future__ import annotations

import fcntl
import hashlib
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import IO, TYPE_CHECKING

import anyio

from mcp_server import kept
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from mcp_server.link import Message


_RETRY_S = 0.2


@dataclass(frozen=True, slots=True)
class Key:
    """What a qualification depends on."""

    task_sha256: str
    precision: str
    tolerance: str
    device_uuid: str
    torch: str
    driver: str
    threads: int
    evaluator: str

    @property
    def name(self) -> str:
        """Return the file's stem."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:32]


class Qualifications:
    """The kept ones of a state folder; unreadable files count as absent."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "cache" / "qualifications"

    def get(self, key: Key) -> Message | None:
        """Return what is known, or None."""
        return kept.read(self._path(key))

    def put(self, key: Key, qualification: Message) -> None:
        """Keep one; a folder that cannot be written costs time later, nothing else."""
        kept.write(self._path(key), qualification)

    @asynccontextmanager
    async def measuring(self, key: Key, waits: Callable[[], None]) -> AsyncGenerator[None]:
        """Be the one who measures a task's original: of several searches the others wait, and find it kept.

        `waits` is called before a wait.

        A folder that cannot be written keeps nobody waiting, since nothing would be kept.
        """
        with ExitStack() as stack:
            with suppress(OSError):
                self.folder.mkdir(parents=True, exist_ok=True)
                path = self._path(key).with_suffix(".lock")
                lock = stack.enter_context(path.open("a", encoding="utf-8"))
                if not _locked(lock):
                    waits()
                while not _locked(lock):  # noqa: ASYNC110  another process tells nobody when it lets go
                    await anyio.sleep(_RETRY_S)
            yield

    def _path(self, key: Key) -> Path:
        return self.folder / f"{key.name}.json"


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@lru_cache(maxsize=1)
def evaluator_sha256() -> str:
    """Return the digest of the programs that decide: judge and worker."""
    digest = hashlib.sha256()
    for folder in ("judge", "worker"):
        for path in sorted((PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
