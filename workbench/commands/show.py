"""`pike show`: a session, or one of its attempts whole."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sessions.best import best
from sessions.budget import running_s
from sessions.journal import Reader
from sessions.model import WAITING
from sessions.parent_age import mean, parent_ages
from sessions.plain_start import best_plain
from sessions.states import SessionState
from sessions.steering import status
from sessions.summary import row_of
from strategies.options import held
from workbench import format as fmt
from workbench import lookup, provenance, steer_words, story, tool_words
from workbench.errors import DONE
from workbench.glyphs import glyphs, word
from workbench.plain import first_line, inert_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State
    from sessions.parent_age import ParentAge
    from strategies.protocol import Proposal
    from workbench.printing import Printer

HEAD = ("", "id", "parent", "by", "speedup×", "class", "ms", "$", "lineage", "why or change")
RIGHT = ("speedup×", "ms", "$")
WHY_LIMIT = 70
CHOICE = ("phase", "position", "island", "slot", "draw")
"""What a strategy notes of how it chose a parent."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Show what was named."""
    folder = lookup.session(typed.session)
    found = lookup.state(folder)
    if typed.candidate:
        return _attempt(folder, lookup.attempt(found, typed.candidate), printer, as_json=typed.json)
    if typed.json:
        printer.pretty(_json(folder, found))
        return DONE
    for line in _head(folder, found):
        printer.data(line)
    with Reader(folder.journal) as reader:
        printer.data(_ages(parent_ages(reader.facts())))
    printer.data()
    printer.table(HEAD, [_cells(found, a) for a in found.attempts.values()], RIGHT)
    return DONE


def _head(folder: SessionFolder, found: State) -> Iterator[str]:
    row = row_of(folder)
    waits = found.cause if found.code == WAITING else ""
    if row["state"] == SessionState.WAITING:
        waits = waits or str(row.get("waits_for") or "")
    yield f"{row['id']}: {inert_line(waits) or row['state'] + _because(found)}"
    if row.get("needs"):
        yield f"needs you: {row['needs']}"
    if found.opened is not None:
        yield _opened(found, found.opened)
        options = held(found.opened.settings)
        on = [name for name, is_on in asdict(options).items() if is_on is True]
        if on:
            rounds = f" ({options.tool_rounds} rounds at most)" if options.agent_tools else ""
            yield f"options: {', '.join(on)}{rounds}"
    if found.baseline is not None:
        yield story.words(found.baseline)
    yield _spent(found)
    top = best(found)
    yield f"best: {top.id} {story.verdict(top.kind, top.verdict)}" if top else "best: none yet"
    plain = best_plain(found)
    if plain is not None:
        yield f"best plain: {plain.id} {story.verdict(plain.kind, plain.verdict)}{_beyond(top, plain)}"
    for steer in found.persons_steers:
        told = steer.why if steer.why else steer_words.stands(steer)
        yield f"{steer.id} {steer.act}, {status(found, steer)}: {inert_line(told, 100)}"
    yield f"folder: {folder.path}"


def _opened(found: State, opened: Opened) -> str:
    """Return what the search works on, with the limits and models of now: people may have steered both."""
    now = replace(opened, limits=dict(found.limits), models=dict(found.models))
    return f"{story.words(now)}{'' if now == opened else '; as steered since it began'}"


def _beyond(top: AttemptRecord | None, plain: AttemptRecord) -> str:
    """Return how far the best is beyond what one line of PyTorch gives."""
    if top is None or not top.runtime_ms or not plain.runtime_ms:
        return ""
    same = "nothing is beyond it yet"
    gain = f"the best is {fmt.speedup(plain.runtime_ms / top.runtime_ms)} as fast"
    return f"; {same if top.id == plain.id else gain}"


def _ages(ages: dict[str, ParentAge]) -> str:
    """Return what the choices of parents did not know, which grows with what runs at once."""
    until = [(age.at_start, age.at_close) for age in ages.values()]
    start, close = mean(a for a, _ in until), mean(b for _, b in until)
    told = f"{start:.1f}" if start is not None else "none yet"
    later = f"{close:.1f}" if close is not None else "none yet"
    return f"parent age, in results closed since it was chosen, on average: {told} at the start, {later} at the end"


def _because(found: State) -> str:
    return f" ({inert_line(found.cause)})" if found.cause else ""


def _spent(found: State) -> str:
    spending, limits = found.spending, found.limits
    handed_in = limits.get("attempts")
    if handed_in is not None:
        return (
            f"spent: {len(found.attempts)} of {fmt.plural(int(handed_in), 'attempt')}, unknown cost, "
            f"{fmt.duration(running_s(found, time.time()))} running"
        )
    unknown = (
        f" and {fmt.plural(spending.unpriced, 'query', 'queries')} of unknown cost"
        if spending.unpriced
        else ""
    )
    return (
        f"spent: {spending.queries}{_limit(limits.get('queries'))} queries, "
        f"{fmt.money(spending.cost_usd)}{_limit(limits.get('cost_usd'))}{unknown}, "
        f"{fmt.duration(running_s(found, time.time()))} running; {fmt.plural(len(found.attempts), 'attempt')}"
        f"{tool_words.counted(found)}"
    )


def _limit(value: float | None) -> str:
    return f" of {value:g}" if value is not None else ""


def _cells(found: State, attempt: AttemptRecord) -> tuple[str, ...]:
    top = best(found)
    speed = fmt.ratio(attempt.speedup)
    if attempt.suspect:
        speed = f"({speed})"
    starred = f"{glyphs().best} {speed}" if top is not None and top.id == attempt.id else speed
    return (
        glyphs().verdict(word(attempt)) + (" banned" if attempt.banned else ""),
        attempt.id,
        attempt.parent,
        inert_line(attempt.author, 12),
        starred,
        story.precision_class(attempt.verdict.get("precision_class")) if attempt.correct else "",
        fmt.milliseconds(attempt.runtime_ms),
        fmt.amount(attempt.cost_usd) if attempt.query else fmt.NONE,
        attempt.lineage,
        _why(attempt),
    )


def _why(attempt: AttemptRecord) -> str:
    if attempt.refutation:
        return first_line(attempt.refutation, WHY_LIMIT)
    if attempt.correct or not attempt.kind:
        return first_line(attempt.change, WHY_LIMIT)
    code = str(attempt.verdict.get("code") or "")
    cause = first_line(str(attempt.verdict.get("cause") or ""), WHY_LIMIT)
    return f"{word(attempt)} {code}: {cause}" if cause else f"{word(attempt)} {code}"


def _json(folder: SessionFolder, found: State) -> dict[str, Any]:
    attempts = [_attempt_json(attempt) for attempt in found.attempts.values()]
    steers = [
        {"id": s.id, "act": s.act, "args": s.args, "text": s.text, "author": s.author, "status": status(found, s),
         "why": s.why, "uses": s.uses}
        for s in found.persons_steers
    ]  # fmt: skip
    return {
        **row_of(folder),
        "limits": found.limits,
        "baseline": found.baseline.verdict if found.baseline else None,
        "best_plain": plain.id if (plain := best_plain(found)) else None,
        "attempt_rows": attempts,
        "steers": steers,
    }


def _attempt_json(attempt: AttemptRecord) -> dict[str, Any]:
    names = ("id", "parent", "proposal", "step", "lineage", "author", "change", "kind", "runtime_ms", "cost_usd",
             "commit", "branch", "banned", "suspect", "reused", "verdict", "remeasured")  # fmt: skip
    return {name: getattr(attempt, name) for name in names}


def _attempt(
    folder: SessionFolder, attempt: AttemptRecord, printer: Printer, *, as_json: bool
) -> int:
    found = lookup.state(folder)
    query = found.queries.get(attempt.query)
    with Reader(folder.journal) as reader:
        texts = {
            "source": reader.text(attempt.source_key),
            **tool_words.texts(found, query, reader.text),
        }
        age = parent_ages(reader.facts())[attempt.proposal]
    proposal = found.trajectories[attempt.proposal].proposal
    if as_json:
        tools = [
            {"agent": t.agent, "tool": t.tool, "ok": t.ok, "seconds": t.seconds}
            for t in attempt.tools
        ]
        chosen = {
            "role": proposal.role,
            "inspirations": proposal.inspirations,
            "meta": {k: v for k, v in proposal.meta.items() if k in CHOICE},
            "parent_age": asdict(age),
        }
        calls = tool_words.calls(found, query)
        shown = {"tools": tools, "tool_calls": calls, **texts}
        printer.pretty({**_attempt_json(attempt), **chosen, **shown})
        return DONE
    for line in _attempt_lines(attempt, [*_choice(proposal, age), *tool_words.lines(found, query)]):
        printer.data(line)
    for name in ("prompt", "rounds", "reply", "source"):
        if texts[name]:
            printer.data(f"\n--- {name} of {attempt.id}")
            printer.data(texts[name])
    return DONE


def _attempt_lines(attempt: AttemptRecord, choice: Iterable[str]) -> Iterator[str]:
    yield f"{glyphs().verdict(word(attempt))} {attempt.id} {story.verdict(attempt.kind or 'running', attempt.verdict)}"
    if attempt.remeasured:
        yield provenance.again(attempt)
    where = f"{attempt.proposal} step {attempt.step}, lineage {attempt.lineage}"
    yield f"by {attempt.author} from {attempt.parent}, {where}"
    yield from choice
    if attempt.change:
        yield f"change: {first_line(attempt.change)}"
    for tool in attempt.tools:
        took = f", {fmt.seconds(tool.seconds)}" if tool.seconds is not None else ""
        yield f"{tool.tool} for {tool.agent}: {'ok' if tool.ok else 'failed'}{took}"
    if attempt.commit:
        yield f"commit {attempt.commit} on {attempt.branch}"
    for key, value in attempt.verdict.items():
        if value not in (None, "", []):
            yield f"  {key}: {_value(value)}"


def _choice(proposal: Proposal, age: ParentAge) -> Iterator[str]:
    if proposal.inspirations:
        yield f"shown beside its parent: {inert_line(', '.join(proposal.inspirations))}"
    told = [f"{name} {proposal.meta[name]}" for name in CHOICE if name in proposal.meta]
    if told:
        yield f"proposed as {proposal.role}: {inert_line(', '.join(told))}"
    since = f"{age.at_start or 0} more closed before it started"
    ended = f", {age.at_close} before it ended" if age.at_close is not None else ""
    known = fmt.plural(age.decided_at, "result")
    yield f"its parent was chosen knowing {known}; {since}{ended}"


def _value(value: Any) -> str:
    text = str(value)
    return f"\n{text}" if "\n" in text else text
