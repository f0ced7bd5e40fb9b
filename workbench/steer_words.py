"""What a steer asks for, in a few words: of `pike tail`, `pike show` and `pike steer S list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from workbench.format import plural
from workbench.plain import Inert, inert_line

if TYPE_CHECKING:
    from sessions.model import SteerRecord

TEXT_LIMIT = 160
"""Characters of foreign text."""
LIMITS = {"queries": "queries", "cost_usd": "dollars", "hours": "hours"}


def said(act: str, args: dict[str, Any]) -> Inert:
    """Return the words; empty where the act says it all."""
    return inert_line(_said(act, args).strip())


def stands(steer: SteerRecord) -> Inert:
    """Return the words of a steer as they are now, after what was edited."""
    return said(steer.act, {**steer.args, **({"text": steer.text} if steer.edits else {})})


def _said(act: str, args: dict[str, Any]) -> str:
    candidate, lifted = _short(args.get("candidate")), "lifted from " if args.get("off") else ""
    match act:
        case "guide":
            return _guide(args)
        case "ban":
            below = len(_names(args.get("candidates"))) - 1
            return f"{lifted}{candidate}" + (f" and {below} below" if below > 0 else "")
        case "boost":
            return f"{_short(args.get('target')).replace(':', ' ')} ×{_number(args.get('weight'))}"
        case "fork":
            return _fork(args, candidate)
        case "submit":
            may = ", may be fixed" if args.get("fix") else ""
            return f"{_short(args.get('name'))} from {_short(args.get('parent'))}{_as(args)}{may}"
        case "budget":
            return _budget(args)
        case "model":
            before = ", ".join(dict.fromkeys(_values(args.get("before"))))
            was = f" (was {_short(before)})" if before else ""
            return f"{_short(args.get('role'))} {_short(args.get('model'))}{was}"
        case "withdraw" | "edit":
            return f"{_short(args.get('steer'))}{_text(args, ': ')}"
        case _:
            return f"{lifted}{candidate}"


def _guide(args: dict[str, Any]) -> str:
    scope, last = str(args.get("scope") or "session"), args.get("last")
    whom = "" if scope == "session" else f" for {_short(scope).replace(':', ' ')}"
    if args.get("off"):
        return f"ended{whom}: {', '.join(_names(args.get('steers')))}"
    lasting = f" for {plural(last, 'proposal')}" if isinstance(last, int) and last > 0 else ""
    return ",".join(part for part in (_text(args), whom, lasting) if part)


def _fork(args: dict[str, Any], candidate: str) -> str:
    model = f" with {_short(args['model'])}" if args.get("model") else ""
    return f"{candidate} ×{_number(args.get('count', 1))}{model}{_as(args)}{_text(args, ': ')}"


def _budget(args: dict[str, Any]) -> str:
    given: Any = args.get("limits", args)
    told = [
        f"{word} {'without limit' if given[name] is None else _number(given[name])}"
        for name, word in LIMITS.items()
        if name in given
    ]
    return ", ".join(told)


def _as(args: dict[str, Any]) -> str:
    opened = ", ".join(_names(args.get("proposals")))
    return f" as {opened}" if opened else ""


def _text(args: dict[str, Any], before: str = "") -> str:
    text = _short(args.get("text"))
    return f"{before}{text}" if text else ""


def _names(value: object) -> list[str]:
    found = cast("list[object]", value) if isinstance(value, list) else []
    return [_short(each) for each in found[:12]]


def _values(value: object) -> list[str]:
    found = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return [str(each) for each in found.values()]


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else _short(value)


def _short(value: object) -> str:
    return inert_line(str(value or ""), TEXT_LIMIT)
