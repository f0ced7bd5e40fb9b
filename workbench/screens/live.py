"""The live screen of one session: what goes on, how it got there, why an attempt failed, and a hand on it."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container, Horizontal, Vertical
from textual.content import Content

from sessions.attention import attention
from sessions.journal import JournalError
from sessions.lock import holder
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.banner_words import foreign_words, gone_words, needs_words, silent_words
from workbench.feed import Feed, load
from workbench.keymap import keymap_of
from workbench.plain import Inert, inert_line
from workbench.screens.detail_pane import DetailPane
from workbench.screens.live_acts import LiveActs
from workbench.shown import standing
from workbench.widgets.agent_strip import AgentStrip, agent_lines, stream_lines
from workbench.widgets.attempt_rows import SHOWN_ROWS, RowMaker, keep
from workbench.widgets.attempt_table import AttemptTable
from workbench.widgets.filter_line import FilterLine
from workbench.widgets.frame import Banner, KeysLine, Separator
from workbench.widgets.lineage_tree import LineageTree
from workbench.widgets.lines import Span, span, wrap, write_border
from workbench.widgets.no_rows import NOTHING_KEPT, before_any
from workbench.widgets.painted import Lines
from workbench.widgets.status_line import StatusLine, status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from sessions.attention import Attention
    from sessions.facts import Fact
    from sessions.folder import SessionFolder
    from sessions.states import SessionState
    from workbench.feed import Beat
    from workbench.widgets.speedup_chart import SpeedupChart

logger = logging.getLogger(__name__)

TICK_S = 0.25
SLOW_TICKS = 4
"""Chart, elapsed times and the look for an engine: once a second."""


class LiveScreen(LiveActs):
    """Shows a session and posts what a person wants of it."""

    WHERE: ClassVar = Where.LIVE
    BINDINGS: ClassVar = bindings(Where.LIVE)
    AUTO_FOCUS = "#attempts"

    def __init__(self, folder: SessionFolder) -> None:
        super().__init__(folder)
        self._rows = RowMaker()
        self._kept = self._all = 0
        self._ticks = 0
        self._chart_stale = True
        """Whether facts came since the curve was drawn: it is made of all attempts."""
        self._needs: tuple[int, Attention | None] = (-1, None)
        self._stood: SessionState | None = None
        """The state of the session when that was made."""
        self._gone = False
        """Whether the session's folder was taken away."""
        self._stumbled = ""
        """What failed last in showing the session."""

    def compose(self) -> ComposeResult:
        """Lay out the panes; style sheets say which are seen at which width."""
        with Container(id="body"):
            yield StatusLine(id="status")
            yield Banner(id="banner")
            with Horizontal(id="panes"):
                tree = LineageTree(id="lineages")
                tree.add_class("frame")
                tree.border_title = Content("1 Lineages")
                yield tree
                with Vertical(id="middle"):
                    table = AttemptTable(id="attempts")
                    table.border_title = Content("2 Attempts")
                    table.follow = True
                    yield table
                    yield Separator("best so far, by queries", id="chart-line")
                    yield Separator("4 Agents", id="agents-line")
                    yield AgentStrip(id="agents")
                yield DetailPane(id="detail", classes="frame")
        yield KeysLine(Where.LIVE, id="keys")
        yield FilterLine()  # after the keys: both lie at the foot, and the later covers the other
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Read the journal, off the event loop."""
        self.add_class("-pane-2")
        self.query_one("#status", Lines).set_lines([(span(" opening ", "dim"), span("…", "dim"))])
        self.run_worker(self._load, thread=True, exclusive=True, group="load", exit_on_error=False)

    @property
    def is_reading(self) -> bool:
        """Whether the journal is still being read."""
        return self.feed is None and not self.trouble

    def _load(self) -> None:
        try:
            self.post_message(m.StateLoaded(load(self.folder)))
        except (JournalError, OSError, ValueError) as error:
            self.post_message(m.Failed(f"cannot open {self.folder.path}: {error}"))

    def on_state_loaded(self, message: m.StateLoaded) -> None:
        """Follow the journal from what was read."""
        message.stop()
        try:
            self.feed = Feed(self.folder, message.state)
        except JournalError as error:
            self.post_message(m.Failed(str(error)))
            return
        self.query_one(DetailPane).follow(self.feed)
        self.feed.look_for_engine()
        self.feed.poll()
        self._paint_all()
        self.set_interval(TICK_S * self.pike.pace, self._tick)
        self.pike.call_later(self.pike.press_ahead)
        self.call_after_refresh(self._add_chart)

    async def _add_chart(self) -> None:
        from workbench.widgets.speedup_chart import SpeedupChart

        await self.query_one("#middle").mount(SpeedupChart(id="chart"), after="#chart-line")
        self.call_after_refresh(self.paint_chart)
        # What was read stays: the collector looked it all through every two seconds, and no key was heard for 0.1 s.
        self.call_after_refresh(gc.freeze)

    def on_unmount(self) -> None:
        """Close the journal; what was read may be collected again."""
        gc.unfreeze()
        if self.feed:
            self.feed.close()

    # --- the tick

    def _tick(self) -> None:
        if self.feed is None or not self.is_seen:
            return
        self._ticks += 1
        slow = self._ticks % SLOW_TICKS == 0
        try:
            beat = self.feed.poll()
            found = slow and self.feed.look_for_engine()
            if beat.live or slow or found:
                with self.pike.batch_update():
                    self._paint(beat, slow=slow, engine=found)
            if slow:
                self._look_for_folder()
        except Exception as error:
            if self._stumbles(f"cannot show {self.folder.journal}: {error}"):
                logger.exception("cannot show %s", self.folder.journal)

    def _stumbles(self, what: str) -> bool:
        """Say what failed, once as long as it is the same; the next tick tries again."""
        again, self._stumbled = what == self._stumbled, what
        if not again:
            self.post_message(m.Failed(what))
        return not again

    def _look_for_folder(self) -> None:
        """Notice that the session was moved or deleted: an open journal reads on as if nothing were."""
        gone = not self.folder.journal.exists()
        if gone is not self._gone:
            self._gone = gone
            self.paint_top()

    def _paint_all(self) -> None:
        with self.pike.batch_update():
            self.paint_rows()
            self._paint_lineages()
            self.paint_top()
            self._paint_agents()

    def _paint(self, beat: Beat, *, slow: bool, engine: bool) -> None:
        if beat.live or engine:
            self.paint_rows()
        if beat.facts and self.feed:
            self.steers_answered(self.feed.state)
            self._paint_lineages(beat.facts)
            self.query_one(DetailPane).refresh_document()
            self._chart_stale = True
        if slow and self._chart_stale:
            # Between two ticks: a key then waits for the one or the other, not for both.
            self.set_timer(TICK_S / 2, self.paint_chart)
        self.paint_top()
        if beat.live or slow:
            self._paint_agents()

    def paint_top(self) -> None:
        """Show status line, banner and the label of `p`."""
        if self.feed is not None:
            now = self.pike.now()
            self.standing = standing(self.feed.state, self.feed.live, self.feed.engine, now)
            line = status(self.feed.state, self.feed.doing, self.standing, now, self.size.width)
            self.query_one("#status", StatusLine).set_lines([line])
            label = "Resume" if self.standing.resumes else "Pause"
            self.query_one("#keys", KeysLine).relabel("live.pause", label)
        elif self.trouble:
            self.query_one("#status", StatusLine).set_lines(
                [(span(" ✗ cannot be shown", "worse"),)]
            )
        self._paint_banner()

    def _paint_banner(self) -> None:
        needs = self._attention()
        self.query_one("#banner", Banner).say(self._banner_words(needs))
        if self.feed is not None:
            self.pike.announcer.of_one(self.folder.name, needs.cause if needs else "")

    def _banner_words(self, needs: Attention | None) -> str:
        """Return the most pressing of what is wrong or wanted; empty if nothing is."""
        if self._gone:
            return gone_words(str(self.folder.path), self.folder.name)
        if self.trouble:
            return f"! {self.trouble}   esc settles this"
        if self.is_foreign:
            found = holder(self.folder)
            return foreign_words(found.host if found else "")
        if self.standing.silent:
            return silent_words(self.folder.name, self.standing, keymap_of(self).key_of)
        return needs_words(self.folder.name, needs, keymap_of(self).key_of) if needs else ""

    def _attention(self) -> Attention | None:
        """Return what the session needs; made of all attempts, so again only after new facts, once a second."""
        if self.feed is None:
            return None
        seq, stands = self.feed.state.seq, self.feed.state.state
        due = self._ticks % SLOW_TICKS == 0 or stands is not self._stood
        if self._needs[0] != seq and due:
            self._stood, self._needs = stands, (seq, attention(self.feed.state))
        return self._needs[1]

    def paint_rows(self) -> None:
        """Show the attempts that the filter keeps."""
        if self.feed is None:
            return
        rows = self._rows.rows(self.feed.state, self.feed.doing, self.pike.now())
        kept = self.sorting.sort(keep(rows, self.query_text) if self.query_text else rows)
        self.table.empty = before_any(self.feed.state) if not rows else NOTHING_KEPT
        self.table.show(kept[:SHOWN_ROWS])
        self._kept, self._all = len(kept), len(rows)
        self.paint_count()

    def paint_count(self) -> None:
        """Say how many attempts are shown, and whether the newest is followed."""
        write_border(self.query_one("#agents"), lower=self._count(self._kept, self._all))

    def _count(self, kept: int, all_of_them: int) -> Inert:
        following = " · following" if self.table.follow else ""
        marked = f" · {len(self.table.marked)} marked" if self.table.marked else ""
        shown = min(kept, SHOWN_ROWS)
        some = f"{shown:,} of {all_of_them:,}" if shown < all_of_them else f"{all_of_them:,}"
        asked = f" · {self.query_text}" if self.query_text else ""
        return inert_line(f"{some} attempts{asked}{marked} · {self.sorting.words}{following}", 76)

    def _paint_lineages(self, facts: Sequence[Fact] = ()) -> None:
        if self.feed:
            self.query_one(LineageTree).show_state(self.feed.state, facts)

    def _paint_agents(self) -> None:
        if self.feed is None:
            return
        strip = self.query_one("#agents", AgentStrip)
        feed, width = self.feed, max(20, strip.size.width)
        lines = agent_lines(feed.state, feed.doing, feed.asked, self.pike.now(), width)
        if self.has_class("-pane-4") and self.has_class("-narrow"):
            lines += stream_lines(feed.doing, width, strip.size.height - len(lines))
        strip.set_lines(lines)

    def paint_chart(self) -> None:
        """Draw the curve, if the chart is seen."""
        from workbench.widgets.speedup_chart import SpeedupChart, curve

        chart: SpeedupChart | None = next(iter(self.query(SpeedupChart)), None)
        if chart is not None and self.feed is not None and chart.region.area:
            chart.show(curve(self.feed.state, self.axis))
            self._chart_stale = False

    def on_resize(self) -> None:
        """Fit what depends on the width."""
        self.share_out()
        size = self.size
        small = f"Too small ({size.width}×{size.height}). Enlarge, or use `pike tail {self.folder.name} --follow`."
        self.query_one("#too-small", Lines).set_lines(
            wrap((Span(inert_line(small)),), self.size.width)
        )
        self.paint_top()
        self.call_after_refresh(self.paint_chart)
        self.call_after_refresh(self._paint_agents)
