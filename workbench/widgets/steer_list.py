"""The steers of a session, each with what became of it: in force, waiting, refused, withdrawn, spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from sessions.steering import status
from workbench.actions import Where, bindings
from workbench.format import plural
from workbench.messages import SteerPicked
from workbench.plain import Inert, inert_line
from workbench.widgets.lines import Line, Span, fit
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from sessions.model import State, SteerRecord

OPEN = ("in force", "waiting")
"""Standings that can still be withdrawn."""
TONES = {"in force": "better", "waiting": "busy", "refused": "warn"}
_ORDER = (*OPEN, "refused")
_NOTES = {"waiting": "from the next prompt", "spent": "done", "withdrawn": "acts no more"}
_WORDS_LIMIT = 200
_NOT_LISTED = ("withdraw", "edit")
"""Acts on other steers: their effect is seen there, and only a refusal is worth a line."""


@dataclass(frozen=True, slots=True)
class SteerRow:
    """One steer, as shown."""

    key: str
    act: Inert
    said: Inert
    standing: str
    note: Inert


def steer_rows(state: State) -> list[SteerRow]:
    """Return the steers of a session: what acts or waits first, newest first."""
    found = [
        _row(state, steer)
        for steer in reversed(state.steers.values())
        if steer.act not in _NOT_LISTED or not steer.applied
    ]
    return sorted(
        found, key=lambda r: _ORDER.index(r.standing) if r.standing in _ORDER else len(_ORDER)
    )


def said(act: str, args: dict[str, Any]) -> Inert:
    """Return in a few words what a steer asks for."""
    return inert_line(_said(act, args).strip(), _WORDS_LIMIT)


def _said(act: str, args: dict[str, Any]) -> str:
    candidate, text = str(args.get("candidate") or ""), str(args.get("text") or "")
    off = "lifted from " if args.get("off") else ""
    quoted = f' "{text}"' if text else ""
    match act:
        case "guide":
            return f"{'ended' if off else ''}{quoted}{_scope(args)}{_last(args)}"
        case "ban":
            more = len(_many(args.get("candidates"))) - 1
            return f"{off}{candidate}{f' and {more} below' if more > 0 else ''}"
        case "boost":
            return f"{str(args.get('target') or '').replace(':', ' ')} ×{_plain(args.get('weight', 1))}"
        case "fork":
            return f"{candidate} ×{_plain(args.get('count', 1))}{_model(args)}{quoted}"
        case "submit":
            return f"{args.get('name') or 'a file'}{_opened(args)}"
        case "budget":
            limits = args.get("limits")
            return _limits(cast("dict[str, Any]", limits) if isinstance(limits, dict) else args)
        case "model":
            return f"{args.get('role') or 'all'}: {args.get('model') or ''}"
        case "withdraw" | "edit":
            return f"{args.get('steer') or ''}{quoted}"
        case _:
            return f"{off}{candidate}"


def _scope(args: dict[str, Any]) -> str:
    scope = str(args.get("scope") or "session")
    return "" if scope == "session" else f" for {scope.replace(':', ' ')}"


def _last(args: dict[str, Any]) -> str:
    last = args.get("last")
    return f" for {plural(last, 'proposal')}" if isinstance(last, int) and last > 0 else ""


def _model(args: dict[str, Any]) -> str:
    return f" with {args['model']}" if args.get("model") else ""


def _opened(args: dict[str, Any]) -> str:
    found = ", ".join(_many(args.get("proposals")))
    return f" as {found}" if found else ""


def _many(value: object) -> list[str]:
    return [str(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _limits(limits: dict[str, Any]) -> str:
    names = {"queries": "queries", "cost_usd": "$", "hours": "hours"}
    return ", ".join(
        f"{name} {'no limit' if limits[key] is None else _plain(limits[key])}"
        for key, name in names.items()
        if key in limits
    )


def _row(state: State, steer: SteerRecord) -> SteerRow:
    standing = status(state, steer)
    used = f"used by {plural(steer.uses, 'query', 'queries')}" if steer.uses else ""
    if standing == "in force":
        used = used or "since it was sent"
    note = steer.why if standing == "refused" else used or _NOTES.get(standing, "")
    return SteerRow(
        steer.id, inert_line(steer.act, 8), said(steer.act, steer.args), standing, inert_line(note)
    )


class SteerList(RowList[SteerRow]):
    """Steers in force, waiting, refused, and those that are over."""

    BINDINGS: ClassVar = [*bindings(Where.STEERS), *bindings(Where.ROWS)]

    def line(self, row: SteerRow, width: int) -> Line:
        """Return one steer in `width` cells: a refusal's reason gets the most room."""
        head = 10 + 13
        room = width - head
        words = min(len(row.said), room // 3 if row.standing == "refused" else room * 2 // 3)
        return (
            Span(fit(row.standing, 10), TONES.get(row.standing, "dim")),
            Span(fit(f"{row.key} {row.act}", 13), "strong"),
            Span(fit(row.said, words)),
            Span(fit(f"  {row.note}" if words else row.note, room - words), "dim"),
        )

    def action_withdraw(self) -> None:
        """Take back the steer under the cursor."""
        if self.selected:
            self.post_message(SteerPicked(self.selected.key, "withdraw"))

    def action_edit(self) -> None:
        """Ask for other words for the steer under the cursor."""
        if self.selected:
            self.post_message(SteerPicked(self.selected.key, "edit"))
