"""What builds have made, kept by a digest of all that went into them: libraries, and what the compilers said.

Key and content are the server's. A process that runs a candidate gets a copy; where nothing fences it in, only what
this server made itself is believed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from mcp_server import folders

if TYPE_CHECKING:
    from pathlib import Path

LOG = "build.log"
"""As the worker knows it."""
Said = Literal["built", "failed", "late", "refused", "left"]
_KEPT_BUILDS = 400


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build."""

    said: Said
    """`left`: of no usual form, so the candidate's own sandbox builds it."""
    log: str = ""
    cause: str = ""
    seconds: float = 0.0
    """In the compiler; 0 where it was kept."""
    kept: bool = False
    """Whether an earlier build's result was taken."""
    stand_in: bool = False
    """Whether light headers stood before torch's."""
    waited_s: float = 0.0
    """Until there was room to start."""
    cpu_s: float = 0.0


@dataclass(slots=True)
class BuildStore:
    """Kept builds in one folder."""

    folder: Path
    fenced: bool
    """Whether no candidate can write here."""
    _made_here: dict[str, str] = field(default_factory=dict[str, str])
    """Digests of the libraries that this server built, by key."""

    def kept(self, key: str) -> Built | None:
        """Return what an earlier build of this key came to, if its library is still as it was."""
        try:
            said: object = json.loads((self.folder / key / "said.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        facts = cast("dict[str, object]", said) if isinstance(said, dict) else {}
        outcome = "built" if facts.get("said") == "built" else "failed"
        if outcome == "built" and not self._whole(key, str(facts.get("sha256"))):
            return None
        if outcome == "failed" and not self.fenced and key not in self._made_here:
            return None
        with suppress(OSError):
            os.utime(self.folder / key)
        stand_in = facts.get("stand_in") is True
        return Built(outcome, log=str(facts.get("log")), kept=True, stand_in=stand_in)

    def _whole(self, key: str, digest: str) -> bool:
        wanted = digest if self.fenced else self._made_here.get(key)
        try:
            library = (self.folder / key / "library").read_bytes()
        except OSError:
            return False
        return hashlib.sha256(library).hexdigest() == wanted

    def keep(self, key: str, found: Built, library: Path | None) -> None:
        """Keep a build; a folder that cannot be written costs time later, nothing else."""
        facts: dict[str, object] = {"said": found.said, "log": found.log}
        facts["stand_in"] = found.stand_in
        part = self.folder / f".{key}.{os.getpid()}"
        with suppress(OSError):
            part.mkdir(parents=True, exist_ok=True)
            self._made_here[key] = ""
            if library is not None:
                shutil.copyfile(library, part / "library", follow_symlinks=False)
                digest = hashlib.sha256((part / "library").read_bytes()).hexdigest()
                facts["sha256"] = self._made_here[key] = digest
            (part / "said.json").write_text(json.dumps(facts), encoding="utf-8")
            if self.fenced and self.kept(key) is not None:  # by another server, which hands it out
                folders.remove(part)
                return
            folders.remove(self.folder / key)
            part.rename(self.folder / key)
            forget_old(self.folder, _KEPT_BUILDS)

    def deliver(self, found: Built, target: str, key: str, folder: Path) -> bool:
        """Put the library, or the compiler's words, into a worker's folder: it may spoil its own copy only.

        Returns whether the worker has all that it was told of.
        """
        try:
            if found.said == "built":
                _put(folder / target, (self.folder / key / "library").read_bytes())
            elif found.said == "failed":
                _put(folder / LOG, found.log.encode())
        except OSError:
            return False
        return True


def forget_old(store: Path, most: int) -> None:
    """Remove all but the most recently used."""
    kept = [p for p in store.iterdir() if not p.name.startswith(".")]
    kept.sort(key=lambda p: p.stat().st_mtime)
    for old in kept[:-most]:
        folders.remove(old)


def _put(path: Path, data: bytes) -> None:
    """Write a file where another process may have left a link."""
    with suppress(OSError):
        path.unlink()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o700)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
