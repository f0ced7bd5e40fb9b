"""A field of a form: label, text, a note beside it; under it what was refused, and what may be typed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from workbench.messages import FieldChanged
from workbench.plain import Inert, inert_line
from workbench.suggestions import Option, matching
from workbench.widgets.filter_line import TYPEABLE
from workbench.widgets.lines import NO_TEXT, Line, Span, fit, span, wrap
from workbench.widgets.painted import Lines
from workbench.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

LABEL = 10
SHOWN = 6
"""Suggestions that are seen at once."""


class Suggestions(RowList[Option], can_focus=False):
    """What may be typed; the text keeps the keys."""

    def line(self, row: Option, width: int) -> Line:
        """Return one suggestion in `width` cells."""
        name = min(34, max(12, width // 2))
        note = Span(fit(row.note, max(0, width - name - 4)), "dim" if row.ready else "worse")
        sign = span("  " if row.ready else "x ", "worse")
        return (sign, Span(fit(inert_line(row.key), name)), span("  "), note)

    def on_click(self, event: events.Click) -> None:
        """Take what is clicked, at once."""
        super().on_click(event)
        if event.chain == 1:
            self.action_open_row()


class FieldLines(Lines):
    """A part of a field; of few tones, since Textual styles each one again with every move of the keys."""

    @classmethod
    @lru_cache(maxsize=1)
    def _get_component_classes(cls) -> frozenset[str]:
        return frozenset({"tone--dim", "tone--worse"})


class SuggestedField(Vertical):
    """Says what is typed in it; offers what might be."""

    BINDINGS: ClassVar = [
        Binding("down", "lower", show=False),
        Binding("up", "higher", show=False),
        Binding("escape", "shut", show=False),
    ]

    def __init__(
        self, name: str, label: Inert, *, hint: Inert = NO_TEXT, between: str = ""
    ) -> None:
        """Make a field; `between`: what stands between several words, each with suggestions of its own."""
        super().__init__(id=f"field-{name}", classes="field")
        self.field = name
        self._label, self._hint, self._between = label, hint, between
        self._note: tuple[Inert, str] = (NO_TEXT, "dim")
        self._refused = NO_TEXT
        self.options: Sequence[Option] = ()
        """What is offered."""
        self.look: Callable[[str], Sequence[Option] | None] = lambda _: None
        """Finds other options for what is typed; None: there are none but `options`."""
        self._told = ""
        self._list: Suggestions | None = None
        self._typed = False
        """Whether something was typed since the keys came here."""

    def compose(self) -> ComposeResult:
        """Lay out the line and the refusal; suggestions are there while they are seen."""
        with Horizontal(classes="line"):
            label = FieldLines(classes="label")
            label.set_lines([(Span(fit(self._label, LABEL), "dim"),)])
            yield label
            yield Input(
                placeholder=self._hint, restrict=TYPEABLE, compact=True, select_on_focus=False
            )
            yield FieldLines(classes="note")
        yield FieldLines(classes="refusal")

    def on_mount(self) -> None:
        """Nothing blinks."""
        self.input.cursor_blink = False

    # --- what a screen sets

    @property
    def input(self) -> Input:
        """The text."""
        return self.query_one(Input)

    @property
    def value(self) -> str:
        """What is typed."""
        return self.input.value

    def put(self, text: str) -> None:
        """Put a text in, without its being told as typed."""
        self._told = inert_line(text)
        with self.prevent(Input.Changed):
            self.input.value = self._told
            self.input.cursor_position = len(self._told)

    def say(self, note: Inert, tone: str = "dim") -> None:
        """Show a note beside the text."""
        if self._note != (note, tone):
            self._note = (note, tone)
            self._paint()

    def refuse(self, why: str) -> None:
        """Show why what is typed cannot be meant; empty takes that away."""
        if self._refused != why:
            self._refused = inert_line(why, 400)
            self.set_class(bool(why), "-refused")
            self._paint()

    def _paint(self) -> None:
        note = self.query_one(".note", Lines)
        text, tone = self._note
        short = fit(text, max(0, note.size.width - 2)) if note.size.width else text
        note.set_lines([(span("  "), Span(short, tone))])
        width = max(20, self.size.width - LABEL - 1)
        rows = wrap((Span(self._refused, "worse"),), width) if self._refused else []
        self.query_one(".refusal", Lines).set_lines((span(" " * LABEL), *row) for row in rows)

    def on_resize(self) -> None:
        """Break the refusal for the new width."""
        self._paint()

    # --- suggestions

    @property
    def is_open(self) -> bool:
        """Whether suggestions are seen."""
        return self._list is not None

    def _tail(self) -> tuple[str, str]:
        """Return what is typed before the word at its end, and that word."""
        if not self._between:
            return "", self.value
        head, sign, tail = self.value.rpartition(self._between)
        return head + sign, tail

    def offer(self, *, everything: bool = False) -> None:
        """Show what goes with the text, or all there is."""
        tail = self._tail()[1]
        found = self.look(tail)
        options = matching(self.options, "" if everything else tail) if found is None else found
        exact = len(options) == 1 and options[0].key == tail
        shown = [] if exact and not everything else list(options)
        if not shown:
            self.close()
            return
        if self._list is None:
            self._list = Suggestions(classes="suggestions")
            self.mount(self._list)
        self._list.show(shown)
        self._list.styles.height = min(SHOWN, len(shown))
        self.call_after_refresh(self.scroll_visible, animate=False)

    def close(self) -> None:
        """Take the suggestions away."""
        if self._list is not None:
            self._list.remove()
            self._list = None

    def action_lower(self) -> None:
        """Show all suggestions, or go to the next."""
        if self._list is not None:
            self._list.action_cursor_down()
        else:
            self.offer(everything=True)

    def action_higher(self) -> None:
        """Go to the suggestion before."""
        if self._list is not None:
            self._list.action_cursor_up()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave esc to the screen while nothing is open."""
        return self.is_open if action == "shut" else True

    def action_shut(self) -> None:
        """Take the suggestions away."""
        self.close()

    def take(self) -> bool:
        """Type the suggestion under the cursor; return whether there was one."""
        chosen = self._list.selected if self._list is not None else None
        if chosen is None:
            return False
        self.put(f"{self._tail()[0]}{chosen.key}")
        self.close()
        self.refuse("")
        self.post_message(FieldChanged(self.field, self.value))
        if chosen.key.endswith("/"):
            self.offer()
        return True

    # --- what happens in it

    def on_input_changed(self, message: Input.Changed) -> None:
        """Say what is typed, and offer what goes with it."""
        message.stop()
        if message.value == self._told:
            return
        self._told = message.value
        self._typed = True
        self.refuse("")
        self.offer()
        self.post_message(FieldChanged(self.field, message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Take the suggestion, else go to the next field."""
        message.stop()
        if not self.take():
            self.screen.focus_next()

    def on_row_opened(self, message: events.Event) -> None:
        """Take the suggestion that was clicked."""
        message.stop()
        self.take()

    def on_cursor_moved(self, message: events.Event) -> None:
        """Keep to itself which suggestion is under the cursor."""
        message.stop()

    def on_descendant_blur(self) -> None:
        """Take the suggestions away with the keys; what was typed is looked at."""
        self.close()
        if self._typed:
            self._typed = False
            self.post_message(FieldChanged(self.field, self.value))
