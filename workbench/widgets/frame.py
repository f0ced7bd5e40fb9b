"""The lines around the panes: separators inside a frame, keys at the foot, tabs, the banner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.keymap import keymap_of
from workbench.messages import ActWanted, TabChosen
from workbench.plain import inert_line
from workbench.widgets.lines import (
    EMPTY,
    Line,
    Span,
    cut,
    fit,
    is_ascii,
    plain_text,
    span,
    spread,
    width_of,
    wrap,
)
from workbench.widgets.painted import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.strip import Strip

    from workbench.actions import Act, Where


class Separator(Lines):
    """A line across a frame, joined to its sides, with a title: `├─ 4 Agents ─────┤`."""

    def __init__(self, title: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._title = title
        self.set_title(title)

    def set_title(self, title: str) -> None:
        """Show another title, of our own words."""
        self.set_lines([(span(title, "strong"),)])

    def render_line(self, y: int) -> Strip:
        """Paint the line over the whole width."""
        width = self.size.width
        title = fit(
            f" {plain_text(self.lines[0])} ", min(len(plain_text(self.lines[0])) + 2, width - 4)
        )
        left, right = self._ends()
        rest = max(0, width - len(left) - width_of((Span(title),)) - 1)
        line: Line = (span(left), Span(title), span("─" * rest + right))
        return self.paint(line, width)

    def _ends(self) -> tuple[str, str]:
        if is_ascii(self):
            return "+-", "+"
        above = self.parent is not None and self.parent.children[0].display
        return ("├─", "┤") if above else ("╭─", "╮")


class KeysLine(Lines):
    """The most useful keys of the screen; a click does the act."""

    def __init__(self, where: Where, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._where = where
        self._acts: list[Act] = []
        self._labels: dict[str, str] = {}
        self.set_lines([EMPTY])

    def on_mount(self) -> None:
        """Show the keys as this person has them."""
        self._acts = keymap_of(self).footer(self._where)
        self.refresh()

    def relabel(self, act_id: str, label: str) -> None:
        """Call an act something else for now: Resume for Pause."""
        if self._labels.get(act_id) != label:
            self._labels[act_id] = label
            self.refresh()

    def _parts(self) -> list[Line]:
        return [
            (span(act.shown, "key"), span(f" {self._labels.get(act.id, act.label)}"))
            for act in self._acts
        ]

    def render_line(self, y: int) -> Strip:
        """Paint as many keys as fit, the palette's at the right end."""
        del y
        width = self.size.width
        left: Line = (span(" "), *cut(self._parts(), width - 2, span("  ")))
        right: Line = (span("ctrl+p", "key"), span(" Palette "))
        return self.paint(spread(left, right, width), width)

    def on_click(self, event: events.Click) -> None:
        """Do the act under the mouse."""
        act = self._act_at(event.x)
        if act is not None:
            self.post_message(ActWanted(act.id))

    def _act_at(self, x: int) -> Act | None:
        at = 1
        for act, part in zip(self._acts, self._parts(), strict=True):
            if at <= x < at + width_of(part):
                return act
            at += width_of(part) + 2
        return None


class TabsLine(Lines):
    """The tabs of the detail pane."""

    def __init__(self, tabs: Sequence[str], *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._tabs = tuple(tabs)
        self._chosen = self._tabs[0]
        self.choose(self._chosen)

    def choose(self, tab: str) -> None:
        """Show which tab is open."""
        self._chosen = tab
        parts: list[Span] = []
        for name in self._tabs:
            parts += [span(self._padded(name), "tab-on" if name == tab else "tab"), span(" ")]
        self.set_lines([tuple(parts)])

    def _padded(self, name: str) -> str:
        """Return a name with a blank at each side, or at one where there is less room."""
        room = sum(len(tab) + 3 for tab in self._tabs) - 2
        return f" {name} " if room <= self.size.width else f" {name}"

    def on_resize(self) -> None:
        """Leave no tab out where there is less room."""
        self.choose(self._chosen)

    def on_click(self, event: events.Click) -> None:
        """Open the tab under the mouse."""
        at = 0
        for name in self._tabs:
            if at <= event.x < at + len(self._padded(name)):
                self.post_message(TabChosen(name))
            at += len(self._padded(name)) + 1


class Banner(Lines):
    """What needs a person, until it is settled; takes no room while there is nothing."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._said = ("", "warn")

    def say(self, text: str, tone: str = "warn") -> None:
        """Show a message; an empty one takes the banner away."""
        if (text, tone) != self._said:
            self._said = (text, tone)
            self.set_class(bool(text), "-on")
            self._lay_out()

    def on_resize(self) -> None:
        """Break the message for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        text, tone = self._said
        width = max(20, self.screen.size.width - 2)
        rows = wrap((Span(inert_line(text, 600), tone),), width) if text else []
        self.set_lines((span(" "), *row) for row in rows)
