"""The Verdict tab: what the evaluator said, in the order in which a person doubts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sessions.verdicts import headline
from workbench.format import interval, milliseconds, seconds, size, speedup
from workbench.glyphs import UNICODE, word
from workbench.outcome_words import outcome as outcome_of
from workbench.plain import inert_line
from workbench.shown import class_name
from workbench.widgets.attempt_rows import TONE_OF_VERDICT
from workbench.widgets.document import Document, document, section, text_lines
from workbench.widgets.lines import EMPTY, Line, Span, span

if TYPE_CHECKING:
    from sessions.model import AttemptRecord

LABEL = 21


def verdict_document(attempt: AttemptRecord) -> Document:
    """Return the verdict of one attempt as a document."""
    verdict = attempt.verdict
    if not attempt.kind:
        return document([(span("Not judged yet.", "dim"),)])
    lines: list[Line] = [_headline(attempt), *_cause(verdict), EMPTY]
    lines += _evidence(attempt)
    lines += _numbers(verdict, _confirmed(attempt))
    lines += _checks(verdict)
    lines += _remeasured(attempt)
    lines += _tools(attempt)
    lines += _where(attempt)
    for title, name in (
        ("Build log", "build_log"),
        ("Standard error", "stderr_tail"),
        ("Standard output", "stdout_tail"),
    ):
        if verdict.get(name):
            lines += section(title, text_lines(str(verdict[name])))
    return document(lines, note=word(attempt), wraps=True)


def _headline(attempt: AttemptRecord) -> Line:
    shown = word(attempt)
    code = attempt.verdict.get("code")
    banned = (span("  banned", "warn"),) if attempt.banned else ()
    return (
        Span(inert_line(f"{UNICODE.verdict(shown)} {shown}", 40), TONE_OF_VERDICT.get(shown, "")),
        Span(
            inert_line(f"  {attempt.verdict.get('status', '')}{f', {code}' if code else ''}", 80),
            "dim",
        ),
        *banned,
    )


def _cause(verdict: dict[str, Any]) -> list[Line]:
    return text_lines(str(verdict["cause"]), "strong") if verdict.get("cause") else []


def _evidence(attempt: AttemptRecord) -> list[Line]:
    flags = [str(flag) for flag in attempt.verdict.get("flags") or ()]
    if not flags and not attempt.refutation:
        return []
    lines: list[Line] = [
        *((Span(inert_line(flag.replace("_", " "), 80), "warn"),) for flag in flags),
        *(text_lines(attempt.refutation, "warn") if attempt.refutation else ()),
        (span(_belief(attempt), "dim"),),
        *_rows(attempt.verdict, ("roofline_ratio", "floor_ms", "bound")),
    ]
    return section("Evidence", lines)


def _belief(attempt: AttemptRecord) -> str:
    if attempt.refutation:
        return "refuted by a second measurement: never the best"
    return (
        "confirmed by a second measurement"
        if attempt.confirmed
        else "not confirmed: never the best"
    )


def _numbers(verdict: dict[str, Any], confirmed: str) -> list[Line]:
    if verdict.get("speedup_ratio") is None:
        return []
    over = f"over {verdict.get('baseline') or 'the baseline'}"
    return section(
        "Speed",
        [
            _ratio(over, verdict, "speedup", "outcome"),
            _ratio("over eager", verdict, "speedup_eager", "outcome_eager"),
            *_rows(
                verdict,
                (
                    "runtime_ms",
                    "p95_ms",
                    "baseline_ms",
                    "eager_ms",
                    "noise_floor_ratio",
                    "pairs",
                    "rounds",
                    "scope",
                ),
            ),
            _row("confirmed", confirmed),
        ],
    )


def _confirmed(attempt: AttemptRecord) -> str:
    if attempt.refutation:
        return "refuted"
    return "yes" if attempt.confirmed else "not yet"


def _ratio(label: str, verdict: dict[str, Any], name: str, outcome: str) -> Line:
    between = interval(verdict.get(f"{name}_lo_ratio"), verdict.get(f"{name}_hi_ratio"))
    return (
        Span(inert_line(f"{label:<{LABEL - 1}} ", 40), "dim"),
        span(speedup(verdict.get(f"{name}_ratio")), "strong"),
        Span(inert_line(f"  {between}  {outcome_of(verdict, outcome)}", 120)),
    )


def _checks(verdict: dict[str, Any]) -> list[Line]:
    names = (
        "precision_class",
        "precision_policy",
        "tolerance",
        "error_over_budget_ratio",
        "oracle",
        "calls_checked",
        "worst_output",
        "peak_memory_bytes",
    )
    rows = _rows(verdict, names)
    return section("Correctness", rows) if rows else []


def _remeasured(attempt: AttemptRecord) -> list[Line]:
    if not attempt.remeasured:
        return []
    if attempt.remeasured.get("speedup_ratio") is None:
        return section("Measured again", text_lines(headline(attempt.remeasured)))
    rows = [_ratio("at the end", attempt.remeasured, "speedup", "outcome")]
    return section("Measured again", [*rows, *_rows(attempt.remeasured, ("runtime_ms",))])


def _tools(attempt: AttemptRecord) -> list[Line]:
    rows: list[Line] = [
        (
            Span(inert_line(f"{call.agent:<10} ", 30), "dim"),
            Span(
                inert_line(
                    f"{call.tool:<17} {'ok' if call.ok else 'failed':<7} {seconds(call.seconds)}",
                    80,
                )
            ),
        )
        for call in attempt.tools
    ]
    return section("Who called what", rows) if rows else []


def _where(attempt: AttemptRecord) -> list[Line]:
    names = (
        "sandbox_level",
        "sandbox_missing",
        "device_name",
        "build_s",
        "mode",
        "torch",
        "cuda",
        "driver",
    )
    rows = _rows(attempt.verdict, names)
    if attempt.reused:
        rows.append(_row("same source as", attempt.reused))
    if attempt.commit:
        rows.append(_row("commit", f"{attempt.commit[:12]} on {attempt.branch}"))
    return section("Where", rows) if rows else []


def _rows(verdict: dict[str, Any], names: tuple[str, ...]) -> list[Line]:
    return [
        _row(_label(name), _value(name, verdict[name]))
        for name in names
        if verdict.get(name) not in (None, [], "")
    ]


def _label(name: str) -> str:
    for ending in ("_ms", "_s", "_ratio", "_bytes"):
        name = name.removesuffix(ending)
    return name.replace("_", " ")


def _value(name: str, value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name.endswith("_ms"):
            return f"{milliseconds(value)} ms"
        if name.endswith("_s"):
            return seconds(value)
        if name.endswith("_bytes"):
            return size(value)
        return f"{value:g}"
    if name == "precision_class":
        return class_name(value)
    if isinstance(value, list):
        return ", ".join(str(one) for one in cast("list[object]", value))  # JSON
    return str(value)


def _row(label: str, value: str) -> Line:
    return (span(f"{label:<{LABEL - 1}} ", "dim"), Span(inert_line(value, 200)))
