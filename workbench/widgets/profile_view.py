"""The Profile tab: how near the machine's limits an attempt is, and where its time goes if it was profiled."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from sessions.model import ORIGINAL
from workbench.format import milliseconds, size, speedup
from workbench.plain import inert_line
from workbench.widgets.document import Document, document, section
from workbench.widgets.lines import EMPTY, Line, Span, span

if TYPE_CHECKING:
    from sessions.facts import Profiled
    from sessions.folder import SessionFolder
    from sessions.model import State

LABEL = 21
FILE_LIMIT = 1_000_000
"""Bytes of a kept profile that are read."""
WHOSE = (("own", "own kernels"), ("library", "vendor libraries"), ("framework", "PyTorch"))
BOUNDS = {
    "memory": "memory-bound: it waits for data",
    "compute": "compute-bound: it waits for arithmetic",
    "launch": "launch-bound: it waits for the launches of its kernels",
}


def profile_document(state: State, candidate: str, folder: SessionFolder) -> Document:
    """Return what is known about where an attempt's time goes; reads a kept profile, so call it in a thread."""
    attempt = state.attempts.get(candidate)
    verdict = attempt.verdict if attempt else state.baseline.verdict if state.baseline else {}
    lines = _limits(verdict, candidate)
    lines += _build(verdict)
    told = state.profiles.get(candidate)
    kept = kept_profile(folder, candidate)
    lines += _told(told) if kept is None and told is not None else _kept(folder, kept, candidate)
    return document(lines, note="profile", wraps=True)


def kept_profile(folder: SessionFolder, candidate: str) -> dict[str, Any] | None:
    """Return the profile made of an attempt; None without one."""
    path = folder.artifacts / f"profile-{candidate}.json"
    try:
        with path.open("rb") as file:
            found: object = json.loads(file.read(FILE_LIMIT))
    except (OSError, ValueError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None  # JSON


def _limits(verdict: dict[str, Any], candidate: str) -> list[Line]:
    """What the verdict itself says: always there for what was timed."""
    rows: list[Line] = []
    bound = verdict.get("bound")
    if bound:
        rows.append((Span(inert_line(BOUNDS.get(str(bound), f"bound: {bound}"), 90), "strong"),))
    runtime, floor = _number(verdict.get("runtime_ms")), _number(verdict.get("floor_ms"))
    if runtime:
        rows.append(_row("runtime", f"{milliseconds(runtime)} ms"))
    if floor:
        rows.append(_row("least possible", f"{milliseconds(floor)} ms for this much work"))
    if runtime and floor:
        left = runtime / floor
        rows.append(
            _row("what is left", f"at most {speedup(left)} more" if left > 1 else "nothing")
        )
    rows += _shares(verdict)
    if not rows:
        word = "The original was" if candidate == ORIGINAL else "It was"
        rows = [(span(f"{word} not timed against the machine's limits.", "dim"),)]
    return section("Against the machine's limits", rows)


def _shares(found: dict[str, Any]) -> list[Line]:
    rows: list[Line] = []
    for name, words in WHOSE:
        share = _number(found.get(f"{name}_share_ratio"))
        if share is not None:
            bar = "█" * round(max(0.0, min(share, 1.0)) * 20)
            rows.append((*_row(words, f"{share:>4.0%} "), span(bar, "bar")))
    return rows


def _build(verdict: dict[str, Any]) -> list[Line]:
    rows: list[Line] = []
    if verdict.get("registers_max") is not None:
        rows.append(_row("registers", f"{verdict['registers_max']} in a thread at most"))
    spilled = _number(verdict.get("spill_bytes"))
    if spilled is not None:
        rows.append(_row("spilled", size(spilled) if spilled else "nothing"))
    peak, before = (_number(verdict.get(f"{name}peak_memory_bytes")) for name in ("", "baseline_"))
    if peak is not None:
        against = f", the original {size(before)}" if before is not None else ""
        rows.append(_row("memory at most", f"{size(peak)}{against}"))
    for name, words in (("prepare_ms", "before its first call"), ("first_call_ms", "first call")):
        if _number(verdict.get(name)) is not None:
            rows.append(_row(words, f"{milliseconds(_number(verdict[name]))} ms"))
    return section("Build and memory", rows) if rows else []


def _told(found: Profiled) -> list[Line]:
    """Return the profile that stands in its children's prompts."""
    if found.cause:
        why = inert_line(f"It could not be profiled: {found.cause}", 300)
        return section("Kernel by kernel", [(Span(why, "dim"),)])
    lines: list[Line] = [(Span(inert_line(line, 160)),) for line in found.hottest]
    warn = span(
        "As its children's prompts tell it: what the profiled process says of itself.", "dim"
    )
    return section("Kernel by kernel", [*lines, EMPTY, *_waits(asdict(found)), (warn,)])


def _kept(folder: SessionFolder, found: dict[str, Any] | None, candidate: str) -> list[Line]:
    if found is None:
        told = inert_line(f"pike profile {folder.name}:{candidate}", 80)
        how = "No profile was made. This makes one, and costs no query:"
        return section("Kernel by kernel", [(span(how, "dim"),), (span("  "), Span(told, "key"))])
    verdict, profile = _dict(found.get("verdict")), _dict(found.get("profile"))
    said: list[Line] = [(Span(inert_line(str(one), 300)),) for one in _list(verdict.get("summary"))]
    side = _dict(profile.get("candidate"))
    rows = [_kernel(_dict(row)) for row in _list(side.get("kernels"))[:40]]
    head: Line = (span(f"{'share':>6}{'µs':>10}{'calls':>7}  kernel", "head"),)
    lines = [*said, EMPTY, head, *rows, EMPTY, *_shares(side), *_waits(side)]
    warn = span("Kernels and their times are what the profiled process says of itself.", "dim")
    return section("Kernel by kernel", [*lines, (warn,)])


def _kernel(row: dict[str, Any]) -> Line:
    share, us, calls = (_number(row.get(name)) for name in ("share_ratio", "us", "calls"))
    numbers = f"{share or 0:>6.0%}{us or 0:>10.1f}{calls or 0:>7.3g}  "
    return (span(numbers), Span(inert_line(str(row.get("name") or ""), 90)))


def _waits(side: dict[str, Any]) -> list[Line]:
    rows: list[Line] = []
    idle, launches = _number(side.get("idle_share_ratio")), _number(side.get("launches_per_call"))
    if idle is not None:
        rows.append(_row("the GPU waits", f"{idle:.0%} of a call"))
    if launches is not None:
        rows.append(_row("launches", f"{launches:.3g} a call"))
    return rows


def _row(label: str, value: str) -> Line:
    return (span(f"{label:<{LABEL - 1}} ", "dim"), Span(inert_line(value, 120)))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}  # JSON


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []  # JSON
