"""Steering with words: write a guide, say whom it is for and how long, see and withdraw those on their way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import TextArea

from sessions.steering import GUIDE_LIMIT, status
from workbench.format import plural
from workbench.plain import Inert, inert, inert_line
from workbench.widgets.chooser import Chooser
from workbench.widgets.lines import NO_TEXT, Line, Span, app_of, fit, span, write_border
from workbench.widgets.painted import Lines
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from sessions.model import State, SteerRecord
    from workbench.widgets.attempt_rows import AttemptRow

TEN = 10
TONES = {"in force": "better", "waiting": "busy", "refused": "warn"}
WHEN = {"waiting": "from the next prompt", "spent": "spent", "withdrawn": "withdrawn"}


@dataclass(slots=True)
class Wish:
    """What a person wants when the dialog closes."""

    commands: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    draft: Inert = NO_TEXT
    """Words kept for later: of this viewer only."""


@dataclass(frozen=True, slots=True)
class SteerRow:
    """One steer, as shown."""

    key: str
    act: Inert
    said: Inert
    standing: str
    note: str


def steer_rows(state: State) -> list[SteerRow]:
    """Return the steers of a session: what acts or waits first, newest first."""
    found = [
        _row(state, steer) for steer in reversed(state.steers.values()) if steer.act != "withdraw"
    ]
    order = ("in force", "waiting", "refused")
    return sorted(
        found, key=lambda r: order.index(r.standing) if r.standing in order else len(order)
    )


def _row(state: State, steer: SteerRecord) -> SteerRow:
    standing = status(state, steer)
    said = str(steer.args.get("text") or steer.args.get("candidate") or "")
    used = plural(steer.uses, "query", "queries") if standing == "in force" else ""
    note = used or (steer.why if standing == "refused" else WHEN.get(standing, ""))
    return SteerRow(
        steer.id, inert_line(steer.act, 12), inert_line(said, 200), standing, inert_line(note, 80)
    )


class SteerList(RowList[SteerRow]):
    """Steers in force, waiting and refused."""

    def line(self, row: SteerRow, width: int) -> Line:
        """Return one steer in `width` cells."""
        room = max(10, width - 45)
        return (
            Span(fit(inert_line(row.standing), 10), TONES.get(row.standing, "dim")),
            Span(fit(inert_line(f"{row.key} {row.act}"), 11), "strong"),
            Span(fit(row.said, room)),
            Span(fit(inert_line(f"  {row.note}"), 24), "dim"),
        )


class GuideBox(TextArea):
    """The words; what is pasted into it is made inert first."""

    BINDINGS: ClassVar = [Binding("tab", "app.focus_next", show=False)]

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = inert(event.text)
        await super()._on_paste(event)


class SteerScreen(ModalScreen[Wish]):
    """Sends guides and withdraws them; nothing stops while it is open."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar = [
        Binding("ctrl+j", "send", show=False, priority=True),
        Binding("escape,ctrl+c", "keep", show=False, priority=True),
        Binding("w,delete", "withdraw", show=False),
        Binding("e", "edit", show=False),
    ]

    def __init__(self, state: State, row: AttemptRow | None, draft: Inert) -> None:
        super().__init__()
        self._state = state
        self._row = row
        self._draft = draft
        self._wish = Wish()

    def compose(self) -> ComposeResult:
        """Lay out the form."""
        scopes = [("session", Inert("session"))]
        if self._row is not None:
            scopes += [
                (f"lineage:{self._row.lineage}", inert_line(f"lineage {self._row.lineage}")),
                (f"candidate:{self._row.key}", inert_line(f"candidate {self._row.key}")),
            ]
        lasting = [("0", Inert("until withdrawn")), (str(TEN), Inert(f"{TEN} proposals"))]
        with Vertical(classes="dialog") as box:
            box.border_title = Content(inert_line(f"Steer {self._state.name}"))
            yield Chooser(Inert("For"), scopes, id="scope")
            yield Chooser(Inert("Lasting"), lasting, id="lasting")
            yield GuideBox(
                self._draft,
                id="words",
                soft_wrap=True,
                tab_behavior="focus",
                show_line_numbers=False,
            )
            yield SteerList(id="steers")
            yield Lines(id="foot")

    def on_mount(self) -> None:
        """Show the steers there are; the words have the keys."""
        steers = self.query_one(SteerList)
        steers.show(steer_rows(self._state))
        steers.display = bool(self._state.steers)
        self.query_one("#foot", Lines).set_lines(
            [
                (
                    *(
                        span("ctrl+j", "key"),
                        span(" Send  "),
                        span("tab", "key"),
                        span(" Next field  "),
                    ),
                    *(span("w", "key"), span(" Withdraw  "), span("e", "key"), span(" Edit  ")),
                    *(span("esc", "key"), span(" Keep as draft")),
                )
            ]
        )
        words = self.query_one(GuideBox)
        words.cursor_blink = False
        words.focus()
        self._count()

    def on_text_area_changed(self) -> None:
        """Count the characters."""
        self._count()

    def _count(self) -> None:
        words = self.query_one(GuideBox)
        write_border(words, lower=Inert(f"{len(words.text):,} of {GUIDE_LIMIT:,}"))

    def action_send(self) -> None:
        """Send the guide."""
        text = self.query_one(GuideBox).text.strip()
        if len(text) > GUIDE_LIMIT:
            app_of(self).notify(
                Inert(f"{GUIDE_LIMIT:,} characters is the most"), severity="warning", markup=False
            )
            return
        if text:
            scope, lasting = self.query_one("#scope", Chooser), self.query_one("#lasting", Chooser)
            args = {"text": text, "scope": scope.value, "last": int(lasting.value)}
            self._wish.commands.append(("guide", args))
        self.dismiss(self._wish)

    def action_keep(self) -> None:
        """Close; the words stay as a draft."""
        self._wish.draft = inert(self.query_one(GuideBox).text)
        self.dismiss(self._wish)

    def action_withdraw(self) -> None:
        """Withdraw the steer under the cursor."""
        row = self.query_one(SteerList).selected
        if row is None or row.standing not in ("in force", "waiting") or row.act != "guide":
            app_of(self).notify("nothing here to withdraw", markup=False)
            return
        self._wish.commands.append(("withdraw", {"steer": row.key}))
        self.action_keep()

    def action_edit(self) -> None:
        """Take the words of the steer under the cursor, withdrawing it."""
        row = self.query_one(SteerList).selected
        if row is None or row.standing not in ("in force", "waiting"):
            app_of(self).notify("nothing here to edit", markup=False)
            return
        steer = self._state.steers[row.key]
        words = self.query_one(GuideBox)
        words.text = inert(str(steer.args.get("text") or ""))
        words.focus()
        withdraw = ("withdraw", {"steer": row.key})
        if withdraw not in self._wish.commands:
            self._wish.commands.append(withdraw)
