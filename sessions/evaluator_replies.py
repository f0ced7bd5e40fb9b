"""What the evaluator's tools answer: what they return or refuse, a verdict, whether a host will do for a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from mcp_server.contract import NO_HOST, EngineResult
from sessions.errors import DeviceAbsent, EvaluatorLost, EvaluatorRefused, JobUnknown
from sessions.evaluator import same_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.types import CallToolResult

    from sessions.evaluator import Ask


def content(
    called: CallToolResult, unknown: type[EvaluatorRefused | JobUnknown] = EvaluatorRefused
) -> dict[str, Any]:
    """Return what a tool answered.

    Raises:
        EvaluatorRefused, JobUnknown: it refused, which is `unknown`.
    """
    if called.is_error:
        raise unknown(said(called) or "the evaluator refused without a word")
    return dict(called.structured_content or {})


def said(called: CallToolResult) -> str:
    """Return the text of an answer, as an agent reads it."""
    return " ".join(getattr(part, "text", "") for part in called.content).strip()


def verdict(found: dict[str, Any]) -> dict[str, Any]:
    """Return a job's verdict without nulls.

    Raises:
        DeviceAbsent: no machine is left that will do.
        EvaluatorLost: the answer is none.
    """
    try:
        whole = EngineResult.model_validate(found).model_dump(mode="json", exclude_none=True)
    except ValidationError as error:
        raise EvaluatorLost(f"the evaluator's answer is not understood: {error}") from error
    if whole.get("code") == NO_HOST:
        raise DeviceAbsent(str(whole.get("cause") or "no machine is there to evaluate"))
    return {name: value for name, value in whole.items() if value != []}


def lacks(ask: Ask, page: Mapping[str, Any]) -> str:
    """Return why a host, or several as one, will not do for a session: without its device, or with another model of it.

    `page`: what its `get_task` says; `device_titles` are the models of `devices`, in the same order.
    """
    names = [str(name) for name in page.get("devices") or ()]
    titles = [str(title) for title in page.get("device_titles") or ()]
    if ask.device == "auto" or not names:
        return ""
    fitting = [n for n, name in enumerate(names) if _is_of(ask.device, name)]
    if not fitting:
        return f"there is no {ask.device}, only {', '.join(dict.fromkeys(names))}"
    there = [titles[n] for n in fitting] if len(titles) == len(names) else []
    wanted = ask.device_name
    if not wanted or not all(there) or not there or any(same_model(t, wanted) for t in there):
        return ""
    models = ", ".join(dict.fromkeys(there))
    return f"{names[fitting[0]]} is {models}, and this session is measured on {wanted}"


def _is_of(wanted: str, name: str) -> bool:
    """Whether a device is what is wanted; `cuda` is any GPU."""
    return name != "cpu" if wanted == "cuda" else name == wanted
