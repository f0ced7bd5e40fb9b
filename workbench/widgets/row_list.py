"""A list with a cursor, painted line by line: only rows that changed are painted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from workbench.actions import Where, bindings
from workbench.messages import CursorMoved, RowOpened
from workbench.plain import inert_line
from workbench.widgets.lines import EMPTY, NO_TEXT, Line, Span, fit
from workbench.widgets.painted import Scrolled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.strip import Strip


class Row(Protocol):
    """A row: frozen and hashable, so that its painted strip can be kept."""

    @property
    def key(self) -> str:
        """What identifies it."""
        ...


R = TypeVar("R", bound=Row)
_CACHED_STRIPS = 4_000


class RowList(Scrolled, Generic[R]):
    """A list of rows of one kind; a subclass says how a row and the header look."""

    BINDINGS: ClassVar = bindings(Where.ROWS)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.rows: Sequence[R] = ()
        self.cursor = 0
        self.follow = False
        """Whether the cursor stays on the first row as new ones come."""
        self._strips: dict[tuple[R, int, str], Strip] = {}
        self._head_height = -1
        """Not looked at yet; every line that is painted asks for it."""
        self._told = ""
        self.empty = NO_TEXT
        """What is said while there are no rows."""

    # --- what a subclass says

    def header(self, width: int) -> Line:
        """Return the heading; empty for none."""
        del width
        return EMPTY

    def line(self, row: R, width: int) -> Line:
        """Return how a row looks in `width` cells."""
        raise NotImplementedError

    # --- content

    @property
    def selected(self) -> R | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def head_height(self) -> int:
        """1 with a heading, else 0."""
        if self._head_height < 0:
            self._head_height = 1 if self.header(80) else 0
        return self._head_height

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows; the cursor stays on its row, or follows the first."""
        if rows == self.rows:
            return
        before, self.rows = self.rows, rows
        held = before[self.cursor].key if self.cursor < len(before) else ""
        moved = self._keep_cursor(held)
        if moved or len(before) != len(rows):
            self.refresh()
        else:
            self._refresh_changed(before)
        self._tell()

    def select(self, key: str) -> bool:
        """Put the cursor on a row; False if it is not shown."""
        for index, row in enumerate(self.rows):
            if row.key == key:
                self._go(index)
                return True
        return False

    def _keep_cursor(self, held: str) -> bool:
        wanted = 0 if self.follow else self._index_of(held)
        wanted = max(0, min(wanted, len(self.rows) - 1))
        shift, self.cursor = wanted - self.cursor, wanted
        top = 0 if self.follow else self.top + shift
        self.top = max(0, min(top, self.last_top))
        return bool(shift)

    def _index_of(self, key: str) -> int:
        found = next((i for i, row in enumerate(self.rows) if row.key == key), None)
        return self.cursor if found is None else found

    def _refresh_changed(self, before: Sequence[R]) -> None:
        for index in range(self.top, min(self.top + self.page, len(self.rows))):
            if before[index] != self.rows[index]:
                self.refresh_index(index)

    # --- painting

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.rows) or int(bool(self.empty))

    def strip(self, index: int, width: int) -> Strip:
        """Return one row, or the heading, painted."""
        if index < 0:
            return self.paint(self.header(width), width, "head")
        if not self.rows:
            return self.paint((Span(fit(inert_line(f" {self.empty}"), width), "dim"),), width)
        under = ""
        if index == self.cursor:
            under = "cursor" if self.has_focus else "cursor-away"
        key = (self.rows[index], width, under)
        strip = self._strips.get(key)
        if strip is None:
            if len(self._strips) > _CACHED_STRIPS:
                self._strips.clear()
            strip = self._strips[key] = self.paint(self.line(self.rows[index], width), width, under)
        return strip

    def forget_strips(self) -> None:
        """Forget the painted strips: rows look different now."""
        self._strips.clear()

    def notify_style_update(self) -> None:
        """Forget the painted strips: colours changed."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._scroll_to_cursor()

    def on_focus(self) -> None:
        """Show the cursor as active."""
        self.refresh_index(self.cursor)

    def on_blur(self) -> None:
        """Show the cursor as inactive."""
        self.refresh_index(self.cursor)

    # --- moving

    def _go(self, index: int) -> None:
        index = max(0, min(index, len(self.rows) - 1))
        if index == self.cursor or not self.rows:
            return
        old, self.cursor = self.cursor, index
        self.refresh_index(old)
        self.refresh_index(index)
        self._scroll_to_cursor()
        self._tell()

    def _scroll_to_cursor(self) -> None:
        if self.cursor < self.top:
            self.go_to(self.cursor)
        elif self.cursor >= self.top + self.page:
            self.go_to(self.cursor - self.page + 1)
        else:
            self.go_to(self.top)

    def _tell(self) -> None:
        key = self.selected.key if self.selected else ""
        if key != self._told:
            self._told = key
            self.post_message(CursorMoved(self, key))

    def action_cursor_down(self) -> None:
        """Move down."""
        self._go(self.cursor + 1)

    def action_cursor_up(self) -> None:
        """Move up."""
        self._go(self.cursor - 1)

    def action_cursor_first(self) -> None:
        """Move to the first row."""
        self._go(0)

    def action_cursor_last(self) -> None:
        """Move to the last row."""
        self._go(len(self.rows) - 1)

    def action_half_down(self) -> None:
        """Move half a page down."""
        self._go(self.cursor + max(1, self.page // 2))

    def action_half_up(self) -> None:
        """Move half a page up."""
        self._go(self.cursor - max(1, self.page // 2))

    def action_page_down(self) -> None:
        """Move a page down."""
        self._go(self.cursor + self.page)

    def action_page_up(self) -> None:
        """Move a page up."""
        self._go(self.cursor - self.page)

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        if self.selected:
            self.post_message(RowOpened(self, self.selected.key))

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked row; a second click opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < self.head_height:
            return
        self._go(offset.y - self.head_height + self.top)
        if event.chain > 1:
            self.action_open_row()
