"""The evaluator's result to what a strategy, a prompt and a person read of it. Works on stored JSON.

| status | kind |
| --- | --- |
| ok | correct |
| wrong_result | wrong |
| compile_error, runtime_error | error |
| timeout | timeout |
| rejected | rejected |
| infra_error, task_unfit, anything newer | unavailable |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strategies.protocol import Kind, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

TAIL = 10_000
"""Characters of a candidate's output that a prompt may show."""
CROWDED = "neighbour_on_gpu"
NOT_CHECKABLE = "not_checkable"

_KINDS: Mapping[str, Kind] = {
    "ok": Kind.CORRECT,
    "wrong_result": Kind.WRONG,
    "compile_error": Kind.ERROR,
    "runtime_error": Kind.ERROR,
    "timeout": Kind.TIMEOUT,
    "rejected": Kind.REJECTED,
}


def kind_of(result: Mapping[str, Any]) -> Kind:
    """Return what a result means to a strategy."""
    return _KINDS.get(str(result.get("status")), Kind.UNAVAILABLE)


def runtime_ms(result: Mapping[str, Any], eager_ms: float | None) -> float | None:
    """Return the candidate's runtime on the session's scale; None unless correct and timed.

    It is the session's `eager_ms` over the paired ratio, so that drift cancels (strategies.md, section 1).
    """
    ratio = result.get("speedup_eager_ratio")
    if kind_of(result) is not Kind.CORRECT or not ratio or eager_ms is None:
        return None
    return eager_ms / float(ratio)


def repeatable(result: Mapping[str, Any]) -> bool:
    """Return whether the evaluator itself was at fault, so that the same evaluation is worth repeating."""
    return result.get("status") == "infra_error" and result.get("code") != NOT_CHECKABLE


def is_crowded(result: Mapping[str, Any]) -> bool:
    """Return whether others held the device's memory: to be waited for, as long as it takes."""
    return result.get("status") == "infra_error" and result.get("code") == CROWDED


def verdict_of(result: Mapping[str, Any], eager_ms: float | None) -> Verdict:
    """Return a stored result as the prompts and the fix policy read it."""
    return Verdict(
        kind=kind_of(result),
        code=_text(result, "code"),
        cause=_text(result, "cause"),
        stdout=_text(result, "stdout_tail")[-TAIL:],
        stderr=_stderr(result)[-TAIL:],
        precision_policy=_text(result, "policy_effective") or _text(result, "precision_policy"),
        max_abs_diff=tuple(result.get("max_abs_diff") or ()),
        output_shapes=tuple(result.get("output_shapes") or ()),
        output_dtypes=tuple(result.get("output_dtypes") or ()),
        worst_output=_text(result, "worst_output"),
        error_over_budget=result.get("error_over_budget_ratio"),
        speedup=result.get("speedup_ratio"),
        runtime_ms=runtime_ms(result, eager_ms),
    )


def headline(result: Mapping[str, Any]) -> str:
    """Return the failure in a few words: its code and the first line of what was printed."""
    words = [_text(result, "status"), _text(result, "code"), _text(result, "cause")]
    return ", ".join(word for word in words if word)


def _stderr(result: Mapping[str, Any]) -> str:
    parts = (_text(result, "build_log"), _text(result, "stderr_tail"))
    return "\n".join(part for part in parts if part)


def _text(result: Mapping[str, Any], key: str) -> str:
    value = result.get(key)
    return "" if value is None else str(value)
