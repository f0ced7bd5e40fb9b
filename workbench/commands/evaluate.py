"""`pike evaluate`: verdicts on candidate files, without a session."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import config, evaluator, story, task_files
from workbench import format as fmt
from workbench.errors import DONE, FAILED, CannotGoOn, WrongUsage
from workbench.glyphs import glyphs
from workbench.plain import inert, inert_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from workbench.printing import Printer

_KINDS = {
    "ok": "correct",
    "wrong_result": "wrong",
    "compile_error": "error",
    "runtime_error": "error",
    "infra_error": "unavailable",
}
"""The contract's status to the word shown; the others are shown by their own name."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Judge each candidate; exit code 0 only if every verdict is `ok`."""
    for name in typed.candidates:
        if not Path(name).is_file():
            raise WrongUsage(f"there is no candidate file {name}.")
    task = task_files.find(typed.task).id
    verdicts = _verdicts(["evaluate", task, *typed.candidates, "--json", *_flags(typed)])
    if typed.json:
        printer.pretty(verdicts)
    else:
        for name, verdict in zip(typed.candidates, verdicts, strict=False):
            _show(name, verdict, printer)
    complete = len(verdicts) == len(typed.candidates)
    return DONE if complete and all(v.get("status") == "ok" for v in verdicts) else FAILED


def _flags(typed: argparse.Namespace) -> list[str]:
    names = ("device", "precision", "tolerance", "sandbox", "python")
    settings = config.load({name: getattr(typed, name) for name in names})
    device = settings.text("device")
    told = {name: settings.text(name) for name in names if name != "device"}
    found = evaluator.flags(device="" if device == "auto" else device, **told)
    return [*found, "--full"] if typed.full else found


def _verdicts(words: Sequence[str]) -> list[dict[str, Any]]:
    """Run the evaluator with its progress on our stderr."""
    done = subprocess.run(evaluator.command(*words), stdout=subprocess.PIPE, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        if done.returncode == 2:
            raise WrongUsage("nothing was judged, see above.") from error
        raise CannotGoOn("nothing was judged, see above.") from error
    return evaluator.rows(found)


def _show(name: str, verdict: dict[str, Any], printer: Printer) -> None:
    kind = _KINDS.get(str(verdict.get("status")), str(verdict.get("status")))
    glyph = glyphs().verdict(kind)
    printer.data(f"{glyph} {inert_line(name)}: {story.verdict(kind, verdict)}")
    for line in _details(verdict):
        printer.data(f"    {line}")


def _details(verdict: dict[str, Any]) -> list[str]:
    lines = [_baselines(verdict), _where(verdict)]
    if verdict.get("status") != "ok":
        lines += [
            line
            for key in ("build_log", "stdout_tail", "stderr_tail")
            for line in _tail(key, str(verdict.get(key) or ""))
        ]
        lines.append(str(verdict.get("advice") or ""))
    return [line for line in lines if line]


def _baselines(verdict: dict[str, Any]) -> str:
    names: list[str] = verdict.get("baseline_names") or []
    times: list[float] = verdict.get("baseline_times_ms") or []
    told = [f"{inert_line(n)} {fmt.milliseconds(t)}" for n, t in zip(names, times, strict=False)]
    return f"baselines, ms: {', '.join(told)}" if told else ""


def _where(verdict: dict[str, Any]) -> str:
    missing: list[str] = verdict.get("sandbox_missing") or []
    told = f", without {', '.join(missing)}" if missing else ""
    parts = [
        inert_line(str(verdict.get("device_name") or verdict.get("device") or "")),
        f"sandbox {verdict['sandbox_level']}{told}" if verdict.get("sandbox_level") else "",
        f"policy {verdict['policy_effective']}" if verdict.get("policy_effective") else "",
    ]
    return ", ".join(part for part in parts if part)


def _tail(key: str, text: str) -> list[str]:
    lines = [str(inert(line)) for line in text.strip().splitlines()][-12:]
    return [f"{key}:", *(f"  {line}" for line in lines)] if lines else []
