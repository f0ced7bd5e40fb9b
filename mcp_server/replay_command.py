"""The plain commands `bundle` and `replay`: a verdict's evidence written to a file, and judged again."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from mcp_server import bundle, clean, replay
from mcp_server.artifacts import new_id
from mcp_server.bundle import Bundle, Evidence, NotABundle
from mcp_server.evaluate_command import talk
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from mcp_server.executor import Outcome
    from mcp_server.link import Message
    from mcp_server.setting import Setting

ALWAYS_CONFIRM = 0.0
"""Any speedup beats it: what is measured again is confirmed, too."""
EXIT = {"stands": 0, "does not stand": 1, "cannot be compared": 1}


def write(home: Path, path: Path) -> int:
    """Write the bundle of what stands on stdin: JSON with `task_id`, `task`, `candidate`, `verdict`, `folder`.

    Raises:
        NotABundle: stdin lacks a part, or the file cannot be written.
    """
    given: object = json.loads(sys.stdin.read())
    told = cast("Message", given) if isinstance(given, dict) else {}
    verdict = told.get("verdict")
    if not isinstance(verdict, dict):
        raise NotABundle("there is no verdict to bundle.")
    held = cast("Message", verdict)
    name = str(held.get("evidence_sha256") or "")
    kept = Evidence(Path(str(told.get("folder")))).get(name) or Evidence(home).get(name)
    words = (str(told.get("task_id")), str(told.get("task")), str(told.get("candidate")))
    try:
        path.write_text(bundle.make(*words, held, kept), encoding="utf-8")
    except OSError as error:
        raise NotABundle(f"{path} cannot be written: {error.strerror}.") from error
    bundle.read(path)  # refuses sources that are not the verdict's
    sys.stdout.write(json.dumps({"file": str(path), "raw_samples": bool(kept)}) + "\n")
    return 0


def main(setting: Setting, path: Path, *, as_json: bool) -> int:
    """Judge a bundle again and say in one line whether its claim stands; 0 only if it does.

    Raises:
        EvaluatorError: the file is no bundle or was changed, or the machine cannot evaluate.
    """
    held = bundle.read(path.expanduser())
    outcome = anyio.run(partial(_again, setting, held))
    found = replay.judged(held.verdict, outcome.verdict)
    if as_json:
        shown = {
            "claim": found.claim,
            "line": found.line,
            "then": held.verdict.model_dump(mode="json"),
            "now": outcome.verdict.model_dump(mode="json"),
        }
        sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    else:
        sys.stdout.write(clean.printable(found.line) + "\n")
    return EXIT[found.claim]


async def _again(setting: Setting, held: Bundle) -> Outcome:
    verdict = held.verdict
    work = Work(
        new_id("job"),
        Task(held.task_id, "", held.task_source, Path()),
        held.candidate,
        precision=verdict.precision_policy or "half",
        tolerance=verdict.tolerance or "budget",
        beat=ALWAYS_CONFIRM,
    )
    async with open_local(setting) as executor:
        return await executor.run(work, lambda stage, detail: talk(f"{stage} {detail}".rstrip()))
