"""Evidence bundles: a verdict with all that is needed to measure it again, and hashes that show a change.

```
bundle ── task: id, sha256, source          sha256 over all the rest
       ├─ candidate: sha256, source
       ├─ verdict                            names task, candidate and evidence by their sha256
       └─ evidence: raw rounds and calls, seed, the machine's facts
```

The hashes show damage and careless edits. Who rewrites a bundle whole can make them anew: then only measuring again
tells, which is what a bundle is for. The verdict in an attempt's commit holds the evidence's hash, too.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from mcp_server.contract import SOURCE_LIMIT, Verdict
from mcp_server.errors import EvaluatorError
from mcp_server.whole_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.link import Message

VERSION = 1
SIZE_LIMIT = 50_000_000
"""Bytes of a bundle's file."""


class NotABundle(EvaluatorError):
    """The file is no evidence bundle, or was changed after it was written."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose hashes agree."""

    task_id: str
    task_source: str
    candidate: str
    verdict: Verdict
    evidence: Message


def digest(value: object) -> str:
    """Return the SHA-256 of a value's JSON, keys sorted."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def make(task_id: str, task_source: str, candidate: str, verdict: Message, kept: Message) -> str:
    """Return the text of a bundle."""
    whole: Message = {
        "bundle": VERSION,
        "task": {"id": task_id, "sha256": text_digest(task_source), "source": task_source},
        "candidate": {"sha256": text_digest(candidate), "source": candidate},
        "verdict": verdict,
        "evidence": kept,
    }
    return json.dumps({**whole, "sha256": digest(whole)}, indent=1, ensure_ascii=True) + "\n"


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, as tasks and candidates are named by it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read(path: Path) -> Bundle:
    """Return the bundle in a file.

    Raises:
        NotABundle: it cannot be read, is none, or does not agree with its own hashes.
    """
    whole = _json(path)
    said = whole.pop("sha256", None)
    if whole.get("bundle") != VERSION or not isinstance(said, str):
        raise NotABundle(
            f"{path.name} is no evidence bundle: `pike best S --bundle FILE` makes one."
        )
    if digest(whole) != said:
        raise NotABundle(
            f"{path.name} was changed after it was written (its SHA-256 does not fit): get it anew."
        )
    return _checked(path.name, whole)


def _checked(name: str, whole: Message) -> Bundle:
    task, candidate, kept = (_part(whole, key) for key in ("task", "candidate", "evidence"))
    try:
        verdict = Verdict.model_validate(whole.get("verdict"))
    except ValidationError as error:
        raise NotABundle(f"{name} holds no verdict this version understands.") from error
    source, program = task.get("source"), candidate.get("source")
    if not isinstance(source, str) or not isinstance(program, str):
        raise NotABundle(
            f"{name} lacks the task's or the candidate's source: it cannot be replayed."
        )
    if len(program) > SOURCE_LIMIT:
        raise NotABundle(f"{name}: the candidate has more than {SOURCE_LIMIT} characters.")
    named = {
        "task": (verdict.task_sha256, text_digest(source)),
        "candidate": (verdict.candidate_sha256, text_digest(program)),
        "evidence": (verdict.evidence_sha256 if kept else None, digest(kept)),
    }
    for part, (wanted, got) in named.items():
        if wanted is not None and wanted != got:
            raise NotABundle(f"{name}: its {part} is not the one that its verdict is about.")
    return Bundle(str(task.get("id") or "local/task"), source, program, verdict, kept)


def _json(path: Path) -> Message:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise NotABundle(f"{path.name} is too large for an evidence bundle.")
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotABundle(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise NotABundle(f"{path.name} is no evidence bundle: it is not JSON.") from error
    return cast("Message", found) if isinstance(found, dict) else {}


def _part(value: Message, name: str) -> Message:
    found = value.get(name)
    return cast("Message", found) if isinstance(found, dict) else {}


class Evidence:
    """The raw evidence of right and timed candidates, by its hash, in a state folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "evidence"

    def keep(self, evidence: Message) -> str | None:
        """Keep evidence and return its hash; None where the folder cannot be written."""
        name = digest(evidence)
        path = self._path(name)
        with suppress(OSError, ValueError):
            write_whole(path, gzip.compress(json.dumps(evidence).encode(), mtime=0))
            return name
        return None

    def get(self, name: str | None) -> Message:
        """Return the evidence of a hash; empty where it is not kept here."""
        with suppress(OSError, ValueError, EOFError):
            if name and name.isalnum():
                found: object = json.loads(gzip.decompress(self._path(name).read_bytes()))
                return cast("Message", found) if isinstance(found, dict) else {}
        return {}

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.json.gz"
