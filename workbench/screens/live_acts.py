"""What the keys of the live screen do to what is seen: panes, tabs, filter, chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.best import best
from sessions.plain_start import best_plain
from workbench.format import plural
from workbench.plain import Inert
from workbench.screens.session_acts import AXES
from workbench.screens.steer_acts import SteerActs
from workbench.widgets.attempt_order import Sorting
from workbench.widgets.attempt_table import AttemptTable
from workbench.widgets.filter_line import FilterLine
from workbench.widgets.frame import Separator
from workbench.widgets.lineage_tree import EARLIER, LineageTree
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from textual.widgets import Input

    from sessions.folder import SessionFolder
    from workbench import messages as m

PANES = ("#lineages", "#attempts", "#text", "#agents")
SHARE_STEP = 5
"""Percent of the width."""
FILTER_HINT = "correct  !suspect  >1.5x  by:EFA  lineage:003  any word"


class LiveActs(SteerActs):
    """The acts on what is seen of a session."""

    def __init__(self, folder: SessionFolder) -> None:
        super().__init__(folder)
        self.sorting = Sorting()
        """The order of the attempts."""
        self._share: int | None = None
        """Percent of the width that the detail pane has; None: as the style sheet says."""

    # --- what is seen

    def show_pane(self, number: int) -> None:
        """Bring a pane to the front and give it the keys."""
        for other in range(1, len(PANES) + 1):
            self.set_class(other == number, f"-pane-{other}")
        self.remove_class("-chart")
        self._entitle_chart()
        self.set_focus(self.query_one(PANES[number - 1]))
        self.detail.refresh_document()

    @property
    def pane(self) -> int:
        """The pane that has the keys, or had them last."""
        return next((n for n in range(1, len(PANES) + 1) if self.has_class(f"-pane-{n}")), 2)

    def action_pane_1(self) -> None:
        """Show the lineages."""
        self.show_pane(1)

    def action_pane_2(self) -> None:
        """Show the attempts."""
        self.show_pane(2)

    def action_pane_3(self) -> None:
        """Show the detail."""
        self.show_pane(3)

    def action_pane_4(self) -> None:
        """Show the agents."""
        self.show_pane(4)

    def action_next_pane(self) -> None:
        """Go to the next pane."""
        self.show_pane(self.pane % len(PANES) + 1)

    def action_open(self) -> None:
        """Open the attempt under the cursor."""
        self.show_pane(3)

    def action_tab_before(self) -> None:
        """Open the tab to the left."""
        self.detail.step(-1)

    def action_tab_after(self) -> None:
        """Open the tab to the right."""
        self.detail.step(1)

    def action_base(self) -> None:
        """Compare with something else."""
        self.tell(f"diff against the {self.detail.next_base()}")

    def action_grow(self) -> None:
        """Make the detail pane wider."""
        self._grow(SHARE_STEP)

    def action_shrink(self) -> None:
        """Make the detail pane narrower."""
        self._grow(-SHARE_STEP)

    def _grow(self, by: int) -> None:
        if self.has_class("-narrow"):
            self.tell("one pane fills the screen here; 1 to 4 switch")
            return
        self._share = max(20, min(80, (self._share or 40) + by))
        self.share_out()

    def share_out(self) -> None:
        """Give the detail pane the share of the width a person wants, where panes stand side by side."""
        middle = self.query_one("#middle")
        beside = not self.has_class("-narrow") and not self.has_class("-chart")
        if self._share and beside:
            self.detail.styles.width = f"{self._share}%"
            middle.styles.width = "1fr"
            return
        for pane in (self.detail, middle):
            pane.styles.clear_rule("width")  # the style sheet's holds

    def action_chart(self) -> None:
        """Show the chart alone, or everything again."""
        self.toggle_class("-chart")
        self._entitle_chart()
        self.share_out()
        self.call_after_refresh(self.paint_chart)

    def action_axis(self) -> None:
        """Draw the curve over something else."""
        self.axis = AXES[(AXES.index(self.axis) + 1) % len(AXES)]
        self._entitle_chart()
        self.paint_chart()

    def _entitle_chart(self) -> None:
        """Name the axis; alone on the screen there is room to say what the marks are."""
        axis = {"time": "minutes", "money": "dollars"}.get(self.axis, self.axis)
        legend = (
            " · dots: other correct attempts · ticks: failures" if self.has_class("-chart") else ""
        )
        plain = best_plain(self.feed.state) if self.feed else None
        legend += f" · dashes: best plain, {plain.id}" if legend and plain else ""
        self.query_one("#chart-line", Separator).set_title(f"best so far, by {axis}{legend}")

    def action_follow(self) -> None:
        """Follow the newest attempt, or stop following."""
        self.table.follow = not self.table.follow
        if self.table.follow:
            self.sorting = Sorting()
            self.paint_rows()
            self.table.action_cursor_first()
        self.paint_rows()

    def action_sort(self) -> None:
        """List the attempts in the next order."""
        self._sort(self.sorting.next())

    def action_reverse(self) -> None:
        """List the attempts the other way round."""
        self._sort(self.sorting.turned())

    def _sort(self, new: Sorting) -> None:
        self.sorting = new
        self.table.follow = self.table.follow and new.newest_first
        self.paint_rows()
        if not new.newest_first:
            self.table.action_cursor_first()

    def action_mark(self) -> None:
        """Mark the attempt under the cursor, or unmark it."""
        self.table.mark()
        self.paint_count()

    def action_compare(self) -> None:
        """Compare the marked attempts; one alone with the best, or the best with the original."""
        chosen = list(self.table.marked)
        champion = best(self.feed.state) if self.feed else None
        row = self.table.selected
        if len(chosen) < 2 and row is not None and row.key not in chosen:
            chosen.append(row.key)
        if len(chosen) < 2 and champion is not None and champion.id not in chosen:
            chosen.append(champion.id)
        if len(chosen) < 2:
            self.tell("mark two attempts with space; c compares them")
            return
        self.pike.show_compare(self.folder, chosen)

    def action_filter(self) -> None:
        """Ask for a filter, or for words to find in the text that has the keys."""
        self._searching = isinstance(self.focused, TextView)
        line = self.query_one(FilterLine)
        line.value = "" if self._searching else self.query_text
        line.ask(Inert("find in this text" if self._searching else FILTER_HINT))

    def on_input_changed(self, message: Input.Changed) -> None:
        """Filter while typing."""
        if not self._searching and message.value != self.query_text:
            self.query_text = message.value
            self.paint_rows()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Keep the filter, or find the words."""
        self.query_one(FilterLine).put_away()
        if self._searching:
            found = self.detail.view.search(message.value)
            self.tell(f"{plural(found, 'line')} found" if message.value else "search cleared")
            self.show_pane(3)
        else:
            self.show_pane(2)

    def action_back(self) -> None:
        """Go one level back: from what covers, from a filter, from a pane, then to the sessions."""
        line = self.query_one(FilterLine)
        if line.has_class("-on"):
            line.put_away()
            self.query_text = "" if not self._searching else self.query_text
            self.show_pane(3 if self._searching else 2)
            self.paint_rows()
        elif self.trouble:
            self.trouble = ""
            self.paint_top()
        elif self.has_class("-chart"):
            self.action_chart()
        elif self.pane != 2:
            self.show_pane(2)
        elif self.query_text:
            self.query_text = ""
            self.paint_rows()
        else:
            self.pike.show_sessions()

    # --- what widgets tell

    def on_cursor_moved(self, message: m.CursorMoved) -> None:
        """Show the attempt the cursor stands on."""
        message.stop()
        if isinstance(message.source, AttemptTable):
            if message.source.cursor and message.source.follow:
                message.source.follow = False
                self.paint_count()
            self.detail.show_attempt(message.key)
        elif (
            isinstance(message.source, LineageTree)
            and self.pane == 1
            and message.key.startswith("c")
        ):
            self.detail.show_attempt(message.key)

    def on_row_opened(self, message: m.RowOpened) -> None:
        """Open an attempt; unfold a lineage."""
        message.stop()
        if isinstance(message.source, LineageTree) and ":" in message.key:
            if message.key.startswith(EARLIER):
                message.source.show_earlier()
            else:
                message.source.toggle()
            return
        self.table.select(message.key)
        self.detail.show_attempt(message.key)
        self.show_pane(3)

    def on_descendant_focus(self) -> None:
        """Know which pane has the keys, also after a click."""
        for number, selector in enumerate(PANES, 1):
            if self.focused is self.query_one(selector):
                for other in range(1, len(PANES) + 1):
                    self.set_class(other == number, f"-pane-{other}")
