"""Facts in plain words: what `pike tail` and `--plain` print, one line per fact."""

from __future__ import annotations

from typing import Any, assert_never

from sessions import facts as f
from sessions.verdicts import kind_of
from workbench import format as fmt
from workbench import steer_words
from workbench.outcome_words import NOT_TOLD, no_difference
from workbench.plain import Inert, first_line, inert_line

WORDS_LIMIT = 160
"""Characters of foreign text in a line."""

ROLE_WORDS = {
    "ideas": "ideas",
    "start": "a first candidate",
    "improve": "an improvement",
    "cross": "a combination",
    "submit": "a submitted candidate",
    "plain": "a plain variant of the original",
}
_ANSWER_WORDS = {"length": "cut off", "refused": "refused by the model"}
_TOOL_WORDS = {
    "compile_kernel": "compile",
    "check_kernel": "check",
    "benchmark_kernel": "benchmark",
    "profile_kernel": "profile",
    "get_task": "get task",
}


def line(fact: f.Fact) -> str:
    """Return the fact as `12:41:07  words`, in local time."""
    return f"{fmt.clock(fact.at)}  {words(fact.body)}"


def row(fact: f.Fact) -> dict[str, Any]:
    """Return the fact for `--json`: its number, time, kind, body and words."""
    return {
        "seq": fact.seq,
        "at": fact.at,
        "kind": fact.body.KIND,
        "words": words(fact.body),
        "fact": f.encode(fact.body),
    }


def words(body: f.Body) -> Inert:
    """Return one inert line that says what happened."""
    return inert_line(_told(body))


def _told(body: f.Body) -> str:  # noqa: C901 - one switch over every kind
    match body:
        case f.Opened():
            return _opened(body)
        case f.Baseline():
            return _baseline(body)
        case f.Informed():
            known = len(body.machine) + len(body.floors)
            told = f"{known} facts of machine and task stand in the prompts"
            return f"no facts for the prompts: {_short(body.cause)}" if body.cause else told
        case f.Profiled():
            return _profiled(body)
        case f.Proposed():
            return _proposed(body)
        case f.Started():
            where = f" on lineage {body.lineage}" if body.lineage else ""
            return f"{body.proposal} started{where}"
        case f.QuerySent():
            return _query_sent(body)
        case f.QueryDone():
            return _query_done(body)
        case f.QueryLost():
            return f"{body.query} lost: the engine ended before its answer was stored; it counts"
        case f.QueryFailed():
            return _query_failed(body)
        case f.Unusable():
            return f"{body.query} unusable ({_short(body.fault)}): query spent, no attempt"
        case f.AttemptMade():
            return _attempt(body)
        case f.EvaluationSent():
            again = f", try {body.turn}" if body.turn > 1 else ""
            return f"{body.candidate} handed to the evaluator for {_short(body.agent)}{again}"
        case f.ToolCalled():
            return _tool(body)
        case f.ToolAnswered():
            return _answered(body)
        case f.RoundsEnded():
            return f"{body.query} calls no more tools: {_short(body.cause)}; the last complete file counts"
        case f.VerdictReached():
            return f"{body.candidate} {verdict(body.kind, body.verdict)}{_reused(body)}"
        case f.Committed():
            return f"{body.candidate} is commit {body.commit[:10]} on {body.branch}"
        case f.Closed():
            return _closed(body)
        case f.Steered():
            return _steered(body)
        case f.Remeasured():
            return (
                f"{body.candidate} measured again: {verdict(kind_of(body.verdict), body.verdict)}"
            )
        case f.Paused():
            return _asked("paused", body.author, body.cause)
        case f.Resumed():
            return _asked("running again", body.author, body.cause)
        case f.Stopped() if body.code != "asked":
            return body.cause
        case f.Stopped():
            return _asked("stopped", body.author, body.cause)
        case f.Finished():
            return f"finished: {_short(body.cause)}"
        case _:
            assert_never(body)


def _profiled(body: f.Profiled) -> str:
    if body.cause:
        return f"{body.candidate} has no profile for its children's prompts: {_short(body.cause)}"
    costliest = f": costliest {_short(body.hottest[0])}" if body.hottest else ""
    return f"{body.candidate} was profiled for its children's prompts{costliest}"


def verdict(kind: str, found: dict[str, Any]) -> str:
    """Return a verdict on one line: `correct 1.41× (1.39–1.43) bf16, 0.173 ms, 11.8× eager`."""
    if kind != "correct":
        code = f" {found['code']}" if found.get("code") else ""
        cause = first_line(str(found.get("cause") or ""), WORDS_LIMIT)
        return f"{inert_line(kind)}{code}: {cause}" if cause else f"{inert_line(kind)}{code}"
    return f"{_sure(found)} {headline(found)}{_runtime(found)}{_eager(found)}{_labels(found)}"


def headline(found: dict[str, Any]) -> str:
    """Return the speedup with interval and class: `1.41× (1.39–1.43) bf16 over bf16 + compile`."""
    between = fmt.interval(found.get("speedup_lo_ratio"), found.get("speedup_hi_ratio"))
    parts = [
        fmt.speedup(found.get("speedup_ratio")),
        f"({between})" if between else "",
        precision_class(found.get("precision_class")),
        f"over {inert_line(str(found['baseline']))}" if found.get("baseline") else "",
    ]
    return " ".join(part for part in parts if part)


def precision_class(name: Any) -> str:
    """Return a precision class as people write it: `tf32/fp16`."""
    return str(name or "").replace("_", "/")


def _sure(found: dict[str, Any]) -> str:
    flags = set(found.get("flags") or [])
    if found.get("confirmed"):
        return "correct, confirmed"
    return "suspect" if flags & {"extraordinary", "below_roofline"} else "correct"


def runtime_ms(found: dict[str, Any]) -> float | None:
    """Return a verdict's runtime in ms on the scale of its `eager_ms`, as tables of attempts show it.

    It is that over the paired ratio: what the clock said by itself holds the drift of the machine, and contradicts
    the ratio beside it.
    """
    eager, ratio = found.get("eager_ms"), found.get("speedup_eager_ratio")
    return eager / ratio if eager and ratio else found.get("runtime_ms")


def _runtime(found: dict[str, Any]) -> str:
    ms = runtime_ms(found)
    return f", {fmt.milliseconds(ms)} ms" if ms is not None else ""


def _eager(found: dict[str, Any]) -> str:
    value = found.get("speedup_eager_ratio")
    return f", {fmt.speedup(value)} eager" if value is not None else ""


def _labels(found: dict[str, Any]) -> str:
    labels = list(found.get("flags") or [])
    if found.get("outcome") == NOT_TOLD:
        labels.insert(0, no_difference(found))
    if found.get("tolerance") == "paper":
        labels.append("tolerance paper")
    if found.get("sandbox_level") in ("landlock", "process"):
        labels.append(f"sandbox {found['sandbox_level']}")
    return f" [{', '.join(inert_line(str(label)) for label in labels)}]" if labels else ""


def _of(executor: str) -> str:
    return f" of {inert_line(executor)}" if executor else ""


def _opened(body: f.Opened) -> str:
    limits = ", ".join(
        f"{key} {value:g}" for key, value in body.limits.items() if value is not None
    )
    models = ", ".join(dict.fromkeys(body.models.values()))
    return (
        f"session {body.session}: {body.strategy} on {body.task}, {body.device}{_of(body.executor)}, "
        f"model {inert_line(models) or 'none'}, limits: {limits or 'none'}"
    )


def _baseline(body: f.Baseline) -> str:
    timed = zip(body.names, body.classes, body.times_ms, strict=False)
    others = ", ".join(
        f"{inert_line(name)} {fmt.milliseconds(ms)} ms" for name, _, ms in timed if name != "eager"
    )
    told = f" ({others})" if others else ""
    return f"the original takes {fmt.milliseconds(body.eager_ms)} ms on {inert_line(body.device_name)}{told}"


def _proposed(body: f.Proposed) -> str:
    if not body.proposals:
        return "the strategy waits for what is open"
    first = body.proposals[0]
    phase = first.get("meta", {}).get("phase")
    told = ", ".join(str(p["id"]) for p in body.proposals[:12])
    more = ", …" if len(body.proposals) > 12 else ""
    which = f" of phase {phase}" if isinstance(phase, int) else ""
    return f"{fmt.plural(len(body.proposals), 'proposal')}{which}: {told}{more}"


def _query_sent(body: f.QuerySent) -> str:
    guided = f", steered by {', '.join(body.steers)}" if body.steers else ""
    return (
        f"{body.query} {_short(body.agent)} asks {_short(body.model)} ({body.role}) "
        f"for {body.proposal}{_round(body)}{guided}"
    )


def _round(body: f.QuerySent) -> str:
    if body.round <= 1:
        return ""
    return f", round {body.round}{', the last' if body.last_round else ''}"


def _query_done(body: f.QueryDone) -> str:
    how = _ANSWER_WORDS.get(body.finish, "answered")
    if body.calls:
        how = f"asks for {fmt.plural(len(body.calls), 'tool call')}"
    paid = "found in the store" if body.replayed else fmt.money(body.cost_usd)
    tokens = f", {body.output_tokens:,} tokens" if body.output_tokens is not None else ""
    if body.thinking_tokens:
        tokens += f" ({body.thinking_tokens:,} thinking)"
    if body.cached_tokens:
        tokens += f", {body.cached_tokens:,} of {body.input_tokens or 0:,} cached"
    return f"{body.query} {how} after {fmt.seconds(body.seconds)}{tokens}, {paid}"


def _query_failed(body: f.QueryFailed) -> str:
    counts = "counts as a query" if body.counts else "does not count"
    return f"{body.query} failed ({body.code}): {_short(body.cause)}; it {counts}"


def _attempt(body: f.AttemptMade) -> str:
    change = first_line(body.change, WORDS_LIMIT)
    told = f": {change}" if change else ""
    return f"{body.candidate} by {_short(body.author)} from {body.parent}{told}"


def _tool(body: f.ToolCalled) -> str:
    took = f", {fmt.seconds(body.seconds)}" if body.seconds is not None else ""
    tool = _TOOL_WORDS.get(body.tool, body.tool)
    return (
        f"{body.candidate} {tool} for {_short(body.agent)}: {'ok' if body.ok else 'failed'}{took}"
    )


def _answered(body: f.ToolAnswered) -> str:
    tool = _TOOL_WORDS.get(body.tool) or _short(body.tool) or "a tool without a name"
    how = "ok" if body.ok else "not ok"
    took = fmt.seconds(body.seconds)
    return (
        f"{body.query} called {tool} for {_short(body.agent)}: {how}, {took}: {_short(body.said)}"
    )


def _reused(body: f.VerdictReached) -> str:
    return f" (same source as {body.reused}, its verdict holds)" if body.reused else ""


def _closed(body: f.Closed) -> str:
    if body.ideas:
        told = "; ".join(inert_line(idea, 60) for idea in body.ideas[:3])
        more = "; …" if len(body.ideas) > 3 else ""
        return f"{body.proposal} closed: {fmt.plural(len(body.ideas), 'idea')}: {told}{more}"
    works = f", {body.works} works" if body.works else ""
    return f"{body.proposal} closed: {body.reason.replace('_', ' ')}{works}"


def _steered(body: f.Steered) -> str:
    if not body.applied:
        return f"{body.steer} {body.act} refused: {_short(body.why)}"
    told = steer_words.said(body.act, body.args)
    return f"{body.steer} {body.act}{_by(body.author)}{': ' if told else ''}{told}"


def _asked(word: str, author: str, cause: str) -> str:
    """Return a change of state: its cause alone where that names the person already."""
    named = bool(author) and author in cause
    return _short(cause) if named else f"{word}{_by(author)}: {_short(cause)}"


def _by(author: str) -> str:
    return f" by {_short(author)}" if author else ""


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_short(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
    return inert_line(str(value), WORDS_LIMIT)
