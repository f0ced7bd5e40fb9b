"""The error fixing agent: a failed attempt's context to the prompt that asks for its fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.agents import blocks
from strategies.errors import ContextRefused
from strategies.protocol import Agent, Attempt, Context, Kind, Prompt, PromptRole, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.templates import Templates

OUTPUT_SHOWN = 10_000
"""Last characters of each stream that a fix prompt shows."""

_HONEST = "Do all the work of a call within that call, on the data that it is given."
BROKEN_RULES: Mapping[str, str] = {
    "ended_early": "The process must live until the evaluator ends it; never exit on your own.",
    "protocol": "Only return tensors; never write to the evaluator's descriptors.",
    "stale_answer": "Every answer must follow the data of its own call; keep nothing derived from "
    "earlier inputs, neither by identity nor by content, nor in a graph that reads old memory.",
    "late_output": "All work must be finished when the call has synchronised: join every stream, "
    "thread and callback, and return plain tensors.",
    "output_changed": "An output must not change after it was returned.",
    "input_changed": "Leave the inputs as the original leaves them.",
    "aliased_output": "Return freshly allocated memory in every call, unless the original does not: "
    "no static buffer, no input, no parameter, no earlier output.",
    "deferred_tensor": "Return plain `torch.Tensor` objects that already hold their values.",
    "timed_answer_wrong": "The answer must be right in every call, however many came before.",
    "clock_not_confirmed": f"The time must be the same on every clock. {_HONEST}",
    "faster_than_hardware": f"No hardware can do the work in this time. {_HONEST}",
    "disturbs_baseline": "Use no processor time between calls: no threads that keep running.",
}


def fix(role: PromptRole, context: Context, templates: Templates) -> Prompt:
    """Ask for the fix of the latest attempt; what came before it is shown only where given.

    Raises:
        ContextRefused: the context has no attempt.
    """
    if not context.attempts:
        raise ContextRefused(f"A {role} prompt must show the failed attempt; there is none.")
    *earlier, failed = context.attempts
    verdict = failed.verdict
    values = blocks.shared(context, templates) | {
        "failed": blocks.code(failed.candidate),
        "earlier": _earlier(earlier),
        "fault": _fault(verdict),
        "stdout": _stream("stdout", verdict.stdout),
        "stderr": _stream("stderr", verdict.stderr),
        "outputs": _outputs(verdict),
        "broken_rule": BROKEN_RULES.get(verdict.code, _HONEST),
    }
    return blocks.filled(role, Agent.EFA, context, templates, values)


def _fault(verdict: Verdict) -> str:
    """Return one line: how it failed, timed out or not, in the evaluator's own words."""
    what = f"{verdict.kind} ({verdict.code})" if verdict.code else str(verdict.kind)
    timed = "It timed out." if verdict.kind is Kind.TIMEOUT else "It did not time out."
    ran = [timed] if verdict.kind in (Kind.TIMEOUT, Kind.ERROR) else []
    cause = [verdict.cause] if verdict.cause else []
    return " ".join([f"Verdict: {what}.", *cause, *ran])


def _stream(name: str, text: str) -> str:
    shown = text[-OUTPUT_SHOWN:].strip("\n")
    return f"{name}:\n\n{blocks.fenced(shown, 'text')}" if shown.strip() else f"{name} was empty."


def _outputs(verdict: Verdict) -> str:
    """Return one line per output: size of its error, shape, dtype. Never positions, thresholds."""
    columns = (verdict.output_shapes, verdict.output_dtypes, verdict.max_abs_diff)
    lines = [_output(i, *(_at(c, i) for c in columns)) for i in range(max(map(len, columns)))]
    if verdict.worst_output:
        lines.append(f"* worst: `{verdict.worst_output}`{_over(verdict.error_over_budget)}")
    elif verdict.error_over_budget is not None:
        lines.append(f"* worst{_over(verdict.error_over_budget)}")
    return "\n".join(lines) or "* no output could be compared"


def _at(column: tuple[object, ...], i: int) -> str:
    return str(column[i]) if i < len(column) else "unknown"


def _output(i: int, shape: str, dtype: str, difference: str) -> str:
    return f"* output {i}: shape {shape}, dtype {dtype}, max_abs_diff {difference}"


def _over(ratio: float | None) -> str:
    return "" if ratio is None else f", error_over_budget_ratio {ratio:.2g} (it may be at most 1)"


def _earlier(attempts: list[Attempt]) -> str:
    shown = [
        f"{blocks.code(attempt.candidate)}\n\n{_fault(attempt.verdict)}" for attempt in attempts
    ]
    return "\n\n".join(["## Earlier attempts of this chain, oldest first", *shown]) if shown else ""
