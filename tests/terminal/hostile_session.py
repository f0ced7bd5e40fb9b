"""A session in which every text that somebody else wrote is an attack on the terminal it is shown on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.baseline import MAIN
from sessions.fold import fold
from sessions.journal import Journal, key_of
from sessions.lineage import Lineages, NewCommit
from sessions.summary import summarise
from tests.tui import journals

if TYPE_CHECKING:
    from pathlib import Path

ATTACKS = (
    "\x1b]52;c;aGFja2Vk\x07",  # the clipboard
    "\x1b]52;c;aGFja2Vk\x1b\\",
    "\x1b]2;hacked\x07",  # the window's title
    "\x1b]8;;file:///etc/passwd\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[8mhidden\x1b[28m",
    "\x1b[2J\x1b[1;1Hover all",
    "\x1b[6n\x1b[c\x1b[>q",  # questions whose answers would be typed
    "\x1b[?1049l\x1bc",  # out of the screen, reset
    '\x1bP$q"p\x1b\\\x1b_Gi=1;AAAA\x1b\\\x1b^x\x1b\\',
    "\x9b31mc1\x9d52;c;aGFja2Vk\x9c\x90q\x9c",
    "\x00nul\x08\x08\x08\rover\x0e\x0f\x7f\x05",
    "\u202etxt.exe\u202c \u2066x\u2069 \u200f\u061c",
    "a [/foo] b [bold]x[/] [@click=app.quit]y[/] [link='x']",
    "\u2028line\u2029paragraph\x85next",
)
TEXT = " ".join(ATTACKS)
SEEN = "␛]52;c;aGFja2Vk␇"
"""How the first attack looks once it is inert."""
LONG = "w" * 1_000_000
LOG = b"\xff\xfe wrong \x9b31m \x1b]52;c;aGFja2Vk\x07 \xc3\x28\n" + TEXT.encode()


def build(folder: Path, *, finished: bool = False) -> None:
    """Write the session: journal, live row, engine's log, git repository."""
    folder.mkdir(parents=True)
    (folder / "engine.log").write_bytes(LOG)
    asyncio.run(_write(folder, finished=finished))


def source(number: int) -> str:
    """Return a candidate full of attacks; the third holds a line of a megabyte."""
    lines = [f"# change: {TEXT}", *ATTACKS, journals.kernel(TEXT, 64, number)]
    return "\n".join([*lines, f"# {LONG}"] if number == 3 else lines) + "\n"


async def _write(folder: Path, *, finished: bool) -> None:
    commits = await _commit(folder / "lineage.git")
    bodies = [*_facts(commits), *([f.Finished(TEXT, "queries")] if finished else [])]
    texts = [source(n) for n in (1, 2, 3)] + [journals.ORIGINAL + TEXT, TEXT]
    journal = await Journal.open(folder / "journal.db", wal=True)
    at = time.time() - 100
    try:
        for number, body in enumerate(bodies):
            await journal.record(at + number, [body], texts=texts if number == 0 else [])
        await journal.live(time.time(), _live())
        await journal.summarise(summarise(fold(await journal.facts())))
        await journal.checkpoint()
    finally:
        await journal.close()


async def _commit(path: Path) -> list[str]:
    """Make commits whose subjects and authors a hostile repository might hold."""
    lineages, made = Lineages(path), list[str]()
    await lineages.prepare()
    for number in range(3):
        files = {"candidate.py": source(1)}
        parents = (made[-1],) if made else ()
        message = f"c{number}: {TEXT}\n\nGuided-by: {TEXT}\n"
        new = NewCommit(MAIN, parents, made[-1] if made else "", files, message, TEXT, 1e9)
        made.append(await lineages.commit(new))
    await lineages.close()
    return made


def _facts(commits: list[str]) -> list[f.Body]:
    return [*_opening(), *_steers(), *_attempts(commits), *_troubles()]


def _opening() -> list[f.Body]:
    opened = journals.opened(f"hostile {TEXT}")
    changed: dict[str, Any] = {
        "task": TEXT,
        "source_key": key_of(journals.ORIGINAL + TEXT),
        "models": {"ideas": TEXT, "improve": TEXT, "fix": TEXT},
        "device": TEXT,
        "sandbox": TEXT,
        "instructions": TEXT,
        "notify": TEXT,
        "origin": TEXT,
        "labels": {TEXT: TEXT},
    }
    measured = f.Baseline({"status": "ok"}, TEXT, TEXT, TEXT, 2.0, [TEXT], [TEXT], [2.0])
    return [f.Opened(**(f.encode(opened) | changed)), measured]


def _steers() -> list[f.Body]:
    guide = {"text": TEXT, "scope": TEXT, "last": None}
    args: dict[str, Any] = {"candidate": TEXT, "target": TEXT, "text": TEXT, "model": TEXT}
    args |= {"name": TEXT, "role": TEXT, "weight": 2.0, "count": 1}
    refused = [
        f.Steered(f"s{number}", 900 + number, act, args, TEXT, applied=False, why=TEXT)
        for number, act in enumerate(("pin", "ban", "boost", "fork", "submit", "model", TEXT), 2)
    ]
    return [f.Steered("s1", 900, "guide", guide, TEXT, applied=True), *refused]


def _attempts(commits: list[str]) -> list[f.Body]:
    good = journals.verdict_of(1.4, "fp32", baseline=TEXT, device_name=TEXT, flags=[TEXT])
    good |= {"build_log": TEXT, "stdout_tail": TEXT, "stderr_tail": TEXT, "torch": TEXT}
    bad: dict[str, Any] = {"status": TEXT, "code": TEXT, "cause": TEXT, "stage": TEXT}
    bad |= {"build_log": f"{TEXT}\n{LONG}", "stderr_tail": TEXT, "stdout_tail": TEXT}
    made: list[f.Body] = []
    for number, (kind, verdict) in enumerate(
        (("correct", good), (TEXT, bad), ("correct", good)), 1
    ):
        made += _attempt(number, kind, dict(verdict), commits[number % len(commits)])
    return [*made, f.Remeasured("c1", good)]


def _attempt(number: int, kind: str, verdict: dict[str, Any], commit: str) -> list[f.Body]:
    proposal, query, candidate = f"p{number}", f"q{number}", f"c{number}"
    proposed = {
        "id": proposal,
        "role": "improve",
        "parent": "c0",
        "inspirations": [TEXT],
        "idea": TEXT,
    }
    asked = f.QuerySent(query, proposal, 0, TEXT, TEXT, TEXT, key_of(TEXT), 0, None, ["s1", TEXT])
    attempt = f.AttemptMade(
        candidate, "c0", proposal, 0, "001", key_of(source(number)), query, TEXT, TEXT
    )
    return [
        f.Proposed([proposed | {"meta": {"phase": 1, TEXT: TEXT}}], {}),
        f.Started(proposal, "001"),
        asked,
        f.QueryDone(query, key_of(TEXT), TEXT, 10, 0, 10, 0.01, 1.0),
        attempt,
        f.EvaluationSent(candidate, TEXT, TEXT, TEXT, TEXT, 1),
        f.ToolCalled(candidate, TEXT, TEXT, ok=False, seconds=1.0),
        f.VerdictReached(candidate, kind, verdict.get("runtime_ms"), verdict, TEXT),
        f.Committed(candidate, commit, TEXT),
        f.Closed(proposal, TEXT, TEXT, [TEXT]),
    ]


def _troubles() -> list[f.Body]:
    lost = f.QuerySent("q4", "p1", 1, TEXT, TEXT, TEXT, key_of(TEXT), 0, None, [])
    return [
        lost,
        f.QueryFailed("q4", TEXT, TEXT, counts=True),
        f.Unusable("q3", "p3", 1, TEXT),
        f.Paused(TEXT, "bad_key", TEXT),
        f.Resumed(TEXT, TEXT),
    ]


def _live() -> dict[str, Any]:
    agent = {"name": TEXT, "doing": TEXT, "target": TEXT, "note": TEXT, "since": time.time()}
    evaluation = {"candidate": "c2", "stage": TEXT, "detail": TEXT, "agent": TEXT}
    return {
        "agents": [agent],
        "evaluations": [evaluation],
        "waiting": 1,
        "gpu": {"name": TEXT, "util": 1, "temp": 1, "mem_used": 1.0, "mem_total": 2.0},
        "stream": {"agent": TEXT, "text": f"{TEXT}\n{LONG[:60_000]}"},
        "waits_for": TEXT,
        "heartbeat": time.time(),
    }
