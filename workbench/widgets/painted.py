"""Widgets that paint lines themselves: a few lines, or a scrolled part of many.

Textual's own scrolling lays the whole screen out again whenever the size of what is scrolled changes, which here is
with every key that shows another text. These widgets keep their own place and paint their own bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from workbench.plain import inert_line
from workbench.widgets.lines import EMPTY, TONE_CLASSES, Line, ascii_only, cells_of, is_ascii

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from textual import events

WHEEL = 3
"""Lines that one turn of the mouse wheel scrolls."""


class Painted(Widget):
    """Paints lines of spans; keeps the styles it combined until colours change."""

    COMPONENT_CLASSES: ClassVar = set(TONE_CLASSES)
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._combined: dict[tuple[str, str], Style] = {}

    def notify_style_update(self) -> None:
        """Forget the styles: colours changed."""
        self._combined.clear()
        super().notify_style_update()

    def render(self) -> RenderableType:
        """Return nothing: lines are painted by `render_line`."""
        return ""

    def paint(self, line: Line, width: int, under: str = "") -> Strip:
        """Return a line as a strip of exactly `width` cells, over the tone `under`.

        The last gate: a span that was not made inert is made so here.
        """
        carries_all = not is_ascii(self)
        base = self._style(under, "")
        segments: list[Segment] = []
        text, style, cells = "", base, 0
        for part in line:
            shown = part.text if part.text.isprintable() else inert_line(part.text.expandtabs(4))
            shown = shown if carries_all else ascii_only(shown)
            cells += cells_of(shown)
            mine = self._style(under, part.tone)
            if mine is not style and text:
                segments.append(Segment(text, style))
                text = ""
            text, style = text + shown, mine
        if text:
            segments.append(Segment(text, style))
        if cells < width:
            segments.append(Segment(" " * (width - cells), base))
        strip = Strip(segments, max(cells, width))
        return strip if cells <= width else strip.crop(0, width)

    def _style(self, under: str, tone: str) -> Style:
        style = self._combined.get((under, tone))
        if style is None:
            base = self.rich_style + self._tone(under)
            style = base if base.reverse else base + self._tone(tone)
            self._combined[under, tone] = style
        return style

    def _tone(self, tone: str) -> Style:
        if not tone:
            return Style.null()
        return self.get_component_rich_style(f"tone--{tone}", partial=True)


class Lines(Painted):
    """A few lines that are painted again only when they change."""

    DEFAULT_CSS = "Lines { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown."""
        return self._lines

    def set_lines(self, lines: Iterable[Line]) -> None:
        """Show these lines; nothing happens if they are what is shown."""
        new = tuple(lines)
        if new == self._lines:
            return
        resized = len(new) != len(self._lines)
        self._lines = new
        self.refresh(layout=resized)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        """Paint one line."""
        line = self._lines[y] if y < len(self._lines) else EMPTY
        return self.paint(line, self.size.width)


class Scrolled(Painted, can_focus=True):
    """A part of many lines, with a bar at the right; a subclass gives the strips."""

    DEFAULT_CSS = "Scrolled { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.top = 0
        """The first line that is seen."""

    @property
    def count(self) -> int:
        """How many lines there are."""
        raise NotImplementedError

    @property
    def head_height(self) -> int:
        """Lines at the top that do not scroll."""
        return 0

    def strip(self, index: int, width: int) -> Strip:
        """Return line `index` in `width` cells; `head_height` lines above are asked for with negative numbers."""
        raise NotImplementedError

    @property
    def page(self) -> int:
        """How many lines are seen at once."""
        return max(1, self.size.height - self.head_height)

    @property
    def last_top(self) -> int:
        """The lowest place to scroll to."""
        return max(0, self.count - self.page)

    def render_line(self, y: int) -> Strip:
        """Paint one line and its piece of the bar."""
        size, head = self.size, self.head_height
        width, row = max(1, size.width - 1), y - head
        index = row if row < 0 else row + self.top
        line = self.strip(index, width) if index < self.count else self.paint(EMPTY, width)
        bar = Segment(self._bar(row, max(1, size.height - head)), self._style("", "bar"))
        return Strip([*line, bar], width + 1)

    def _bar(self, row: int, page: int) -> str:
        count = self.count
        if row < 0 or count <= page:
            return " "
        size = max(1, page * page // count)
        start = self.top * (page - size) // max(1, count - page)
        on = start <= row < start + size
        return ("|" if is_ascii(self) else "▐") if on else " "

    def go_to(self, top: int) -> None:
        """Scroll so that line `top` is the first one seen, as far as there are lines."""
        top = max(0, min(top, self.last_top))
        if top != self.top:
            self.top = top
            self.refresh()

    def refresh_index(self, index: int) -> None:
        """Paint one line again, if it is seen."""
        y = index - self.top + self.head_height
        if self.head_height <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll with the wheel."""
        event.stop()
        self.go_to(self.top + WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll with the wheel."""
        event.stop()
        self.go_to(self.top - WHEEL)
