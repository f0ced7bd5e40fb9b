"""The fields of one act in the steer dialog, laid out anew for each act; and what is typed in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.strip import Strip
from textual.widgets import TextArea

from sessions.steering import GUIDE_LIMIT
from workbench.plain import Inert, inert
from workbench.widgets.chooser import LABEL, Chooser
from workbench.widgets.line_field import LineField
from workbench.widgets.lines import Span, span, write_border
from workbench.widgets.painted import Lines
from workbench.widgets.steer_form import candidate_note

if TYPE_CHECKING:
    from textual import events
    from textual.geometry import Region
    from textual.widget import Widget

    from sessions.model import State
    from workbench.widgets.steer_form import About, Draft, Field

CANDIDATES = ("candidate", "parent")
"""Fields that name a candidate."""
WIDE = ("file", "model")
TOLD = ("now", "known")
"""Fields that are only read."""


class GuideBox(TextArea):
    """The words; what is pasted into it is made inert first."""

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = inert(event.text)
        await super()._on_paste(event)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines; empty ones once it is removed: a screen may paint it once more, without its styles."""
        if not self.is_attached:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)


class SteerFields(Vertical):
    """Holds the fields of an act."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._fields: tuple[Field, ...] = ()

    async def lay_out(self, new: tuple[Field, ...], draft: Draft, about: About) -> None:
        """Show these fields, each with what was typed in it before."""
        self._fields = new
        await self.remove_children()
        await self.mount(*[_widget(one, draft.value(draft.act, one), about) for one in new])
        self._count()

    async def only_words(self, text: Inert) -> None:
        """Show the words alone, to change those of a steer."""
        for chooser in self.query(Chooser):
            chooser.display = False
        words = self.query_one(GuideBox)
        words.text = text
        words.focus()

    def take_keys(self, typed: str = "") -> None:
        """Put the keys where a person goes on: the first line, else the words; with what was typed already."""
        lines, words = list(self.query(LineField)), list(self.query(GuideBox))
        if lines:
            lines[0].take_keys(typed)
        elif words:
            words[0].focus()
            words[0].insert(inert(typed))
        else:
            self.query(Chooser).first().focus()

    def go_to(self, name: str) -> None:
        """Put the cursor into a field."""
        for line in self.query(LineField):
            if line.field == name:
                line.take_keys()
        for words in self.query(GuideBox) if name == "text" else ():
            words.focus()

    def values(self) -> dict[str, str]:
        """Return what stands in each field."""
        found = {chooser.id or "": chooser.value for chooser in self.query(Chooser)}
        found |= {line.field: line.value for line in self.query(LineField)}
        words = [box.text for box in self.query(GuideBox)]
        return found | ({"text": words[0]} if words else {})

    def typed(self) -> dict[str, Inert]:
        """Return what a draft keeps: what the form did not begin with."""
        values = self.values()
        return {
            one.name: inert(values[one.name])
            for one in self._fields
            if one.keeps and values.get(one.name, one.start) != one.start
        }

    def describe(self, name: str, value: str, state: State) -> None:
        """Say what the candidate is that is typed in a field."""
        for line in self.query(LineField):
            if line.field == name and name in CANDIDATES:
                line.say(candidate_note(state, value))

    def on_text_area_changed(self) -> None:
        """Count the characters."""
        self._count()

    def _count(self) -> None:
        for words in self.query(GuideBox):
            write_border(words, lower=Inert(f"{len(words.text):,} of {GUIDE_LIMIT:,}"))


def _widget(one: Field, start: Inert, about: About) -> Widget:
    if one.options:
        return Chooser(one.label, one.options, start=start, id=one.name)
    if one.words:
        box = GuideBox(start, id="words", soft_wrap=True, show_line_numbers=False)
        box.tab_behavior, box.cursor_blink = "focus", False
        write_border(box, upper=Inert("Words for the agents"))
        return box
    if one.name in TOLD:
        told = Lines(id=one.name, classes="field")
        told.set_lines([(span(" " * LABEL), Span(one.note, "dim"))])
        return told
    suggests = about.models if one.name == "model" else ()
    return LineField(one.name, one.label, start, one.note, suggests, wide=one.name in WIDE)
