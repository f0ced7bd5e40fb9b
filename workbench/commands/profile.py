"""`pike profile`: where the time of a task or of a candidate goes, before money is spent on a search."""

from __future__ import annotations

import json
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sessions.journal import Reader
from sessions.model import ORIGINAL
from sessions.models.files import write_whole
from workbench import config, evaluator, lookup, story, task_files
from workbench import format as fmt
from workbench.errors import DONE, FAILED, CannotGoOn, WrongUsage
from workbench.plain import inert_line

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

BASELINES = ("baseline", "class", "ms", "over eager")
KERNELS = ("share", "µs", "calls", "whose", "kernel")
NAME_LIMIT = 90
"""Characters of a kernel's name."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Profile what was named; 1 where there is no profile."""
    task, source, kept = _named(typed.task)
    if typed.candidate:
        source, kept = task_files.candidate(Path(typed.candidate).expanduser()), None
    found = _profile(task, source, [*_flags(typed), *(["--full"] if typed.full else [])])
    if kept is not None and found.get("profile"):
        keep(kept, found)
    if typed.json:
        printer.pretty(found)
    else:
        _show(found, printer)
    return DONE if found.get("profile") else FAILED


def keep(path: Path, found: dict[str, Any]) -> None:
    """Keep an attempt's profile in its session, for the screen; a folder that cannot be written is no loss."""
    with suppress(OSError):
        write_whole(path, json.dumps(found))


def _named(named: str) -> tuple[str, str, Path | None]:
    """Return the task's id, the candidate's source, empty for the original, and where its profile is kept.

    Raises:
        WrongUsage: there is no such task, session or attempt.
    """
    session, sign, attempt = named.rpartition(":")
    if not sign or Path(named).expanduser().is_file():
        return task_files.find(named).id, "", None
    folder = lookup.session(session)
    state = lookup.state(folder)
    if state.opened is None:
        raise CannotGoOn(f"{folder.name} has not begun: there is nothing to profile yet.")
    task, kept = state.opened.task, folder.artifacts / f"profile-{attempt}.json"
    if attempt == ORIGINAL:
        return task, "", kept
    record = lookup.attempt(state, attempt)
    with Reader(folder.journal) as reader:
        return task, reader.text(record.source_key), kept


def _flags(typed: argparse.Namespace) -> list[str]:
    names = ("device", "precision", "sandbox", "python")
    settings = config.load({name: getattr(typed, name) for name in names})
    told = {name: settings.text(name) for name in names}
    told["device"] = "" if told["device"] == "auto" else told["device"]
    return evaluator.flags(**told)


def _profile(task: str, source: str, flags: list[str]) -> dict[str, Any]:
    """Run the evaluator with its progress on our stderr."""
    with tempfile.TemporaryDirectory(prefix="pike-profile-") as folder:
        words = ["profile", task, "--json", *flags]
        if source:
            path = Path(folder, "candidate.py")
            path.write_text(source, encoding="utf-8", errors="surrogatepass")
            words += ["--candidate", str(path)]
        done = subprocess.run(evaluator.command(*words), stdout=subprocess.PIPE, check=False)
    try:
        found: object = json.loads(done.stdout)
    except ValueError as error:
        kind = WrongUsage if done.returncode == 2 else CannotGoOn
        raise kind("nothing was profiled, see above.") from error
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}  # JSON


def _show(found: dict[str, Any], printer: Printer) -> None:
    verdict: dict[str, Any] = found.get("verdict") or {}
    profile: dict[str, Any] = found.get("profile") or {}
    for sentence in _list(verdict, "summary"):
        printer.data(str(sentence))
    if not profile:
        return
    printer.data()
    printer.table(BASELINES, _baselines(verdict), BASELINES[2:])
    for note in _list(profile, "notes"):
        printer.data(f"not measured: {inert_line(str(note), 150)}")
    printer.data()
    side: dict[str, Any] = profile.get("candidate") or {}
    printer.table(KERNELS, [_kernel(row) for row in _list(side, "kernels")], KERNELS[:3])
    printer.data(_shares(side))
    printer.data(_where(verdict))
    for line in _list(profile, "facts_lines"):
        printer.data(f"  {inert_line(str(line), 200)}")
    if verdict.get("status") != "ok":
        printer.talk(f"its verdict: {story.headline(verdict)}")
    printer.talk(
        "Kernels and their times are what the profiled process says; no verdict uses them."
    )


def _baselines(verdict: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    lists = (_list(verdict, f"baseline_{name}") for name in ("names", "classes", "times_ms"))
    eager = verdict.get("eager_ms")
    rows = [
        (name, kind, fmt.milliseconds(ms), fmt.speedup(eager / ms if eager else None))
        for name, kind, ms in zip(*lists, strict=False)
    ]
    if verdict.get("runtime_ms") and verdict.get("speedup_eager_ratio"):
        ratio = fmt.speedup(verdict["speedup_eager_ratio"])
        kind = str(verdict.get("precision_class") or "")
        rows.append(("this", kind, fmt.milliseconds(story.runtime_ms(verdict)), ratio))
    return rows


def _list(value: dict[str, Any], name: str) -> list[Any]:
    return value.get(name) or []


def _kernel(row: dict[str, Any]) -> tuple[str, str, str, str, str]:
    return (
        f"{float(row['share_ratio']):.0%}",
        f"{float(row['us']):.1f}",
        f"{float(row['calls']):.3g}",
        str(row["kind"]),
        str(inert_line(str(row["name"]), NAME_LIMIT)),
    )


def _shares(side: dict[str, Any]) -> str:
    parts = [f"{name} {float(side.get(f'{name}_share_ratio') or 0):.0%}" for name in _WHOSE]
    idle, launches = side.get("idle_share_ratio"), side.get("launches_per_call")
    if idle is not None:
        parts.append(f"the GPU waits {float(idle):.0%} of a call")
    if launches is not None:
        parts.append(f"{float(launches):.3g} launches a call")
    if side.get("do_bench_ms"):
        parts.append(f"Triton's do_bench says {fmt.milliseconds(side['do_bench_ms'])} ms")
    return ", ".join(parts)


_WHOSE = ("own", "library", "framework")


def _where(verdict: dict[str, Any]) -> str:
    floor = verdict.get("floor_ms")
    parts = [
        str(verdict.get("device_name") or verdict.get("device") or ""),
        f"floor {fmt.milliseconds(floor)} ms" if floor else "",
        f"policy {verdict['policy_effective']}" if verdict.get("policy_effective") else "",
        f"noise of eager against itself {verdict['noise_floor_ratio']:.1%}"
        if verdict.get("noise_floor_ratio")
        else "",
    ]
    return str(inert_line(", ".join(part for part in parts if part), 200))
