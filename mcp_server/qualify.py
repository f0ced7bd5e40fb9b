"""What judges measured of a task, kept between runs: one JSON file per task, policy, device, torch and driver.

A qualification says that the task rejects wrong answers here, how exact an answer must be, and how fast the baselines
are. Whatever could change those is in the key.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcp_server import kept
from mcp_server.sandbox import PACKAGE

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.link import Message


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

    def _path(self, key: Key) -> Path:
        return self.folder / f"{key.name}.json"


@lru_cache(maxsize=1)
def evaluator_sha256() -> str:
    """Return the digest of the programs that decide: judge and worker."""
    digest = hashlib.sha256()
    for folder in ("judge", "worker"):
        for path in sorted((PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
