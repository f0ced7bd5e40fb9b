"""The steers of a session, each with what became of it: in force, waiting, refused, withdrawn, spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sessions.steering import status
from workbench.actions import Where, bindings
from workbench.format import plural
from workbench.messages import SteerPicked
from workbench.plain import Inert, inert_line
from workbench.steer_words import said
from workbench.widgets.lines import Line, Span, fit
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from sessions.model import State, SteerRecord

TONES = {"in force": "better", "waiting": "busy", "refused": "warn"}
_ORDER = ("in force", "waiting", "refused")
_NOTES = {"spent": "done", "withdrawn": "acts no more"}
_DUE = {
    "guide": "from the next prompt",
    "pin": "at the next choice of parents",
    "boost": "at the next choice of parents",
    "fork": "as soon as a place falls free",
    "submit": "as soon as a place falls free",
    "model": "from the next query",
}
"""When a steer that waits will act."""
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
        for steer in reversed(state.persons_steers)
        if steer.act not in _NOT_LISTED or not steer.applied
    ]
    return sorted(
        found, key=lambda r: _ORDER.index(r.standing) if r.standing in _ORDER else len(_ORDER)
    )


def told(steer: SteerRecord, seq: int | None = None) -> Inert:
    """Return `s3 guide keep the attention in fp16`, with the words it had when fact `seq` was written (None: now)."""
    return inert_line(f"{steer.id} {steer.act} {_asked(steer, seq)}".rstrip(), 400)


def _asked(steer: SteerRecord, seq: int | None = None) -> Inert:
    words = steer.text if seq is None else steer.text_at(seq)
    return said(steer.act, steer.args | ({"text": words} if words else {}))


def _row(state: State, steer: SteerRecord) -> SteerRow:
    standing = status(state, steer)
    used = f"used by {plural(steer.uses, 'query', 'queries')}" if steer.uses else ""
    due = _DUE.get(steer.act, "") if standing == "waiting" else _NOTES.get(standing, "")
    held = "acts since it was sent" if standing == "in force" else due
    note = steer.why if standing == "refused" else used or held
    words = inert_line(_asked(steer), _WORDS_LIMIT)
    return SteerRow(steer.id, inert_line(steer.act, 8), words, standing, inert_line(note))


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
