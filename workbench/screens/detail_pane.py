"""The detail pane at work: builds what its open tab shows in a thread, keeps the last few, never piles up work."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.lock import Presence
from sessions.model import ORIGINAL
from sessions.states import ENDED
from workbench import messages as m
from workbench import story
from workbench.plain import inert_line
from workbench.widgets.detail import (
    BASES,
    TABS,
    Detail,
    Look,
    Wanted,
    builder,
    log_document,
    subtitle,
    title,
    wanted,
)
from workbench.widgets.document import Document, document, text_lines
from workbench.widgets.frame import TabsLine
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.feed import Feed

logger = logging.getLogger(__name__)

KEPT = 64
LOG_BYTES = 64_000


class DetailPane(Detail):
    """One attempt of a followed session."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.tab = TABS[0]
        self.look = Look()
        self.candidate = ORIGINAL
        self._feed: Feed | None = None
        self._kept: dict[Wanted, Document] = {}
        self._shown: Wanted | None = None
        self._building: Wanted | None = None

    @property
    def view(self) -> TextView:
        """The text."""
        return self.query_one("#text", TextView)

    def follow(self, feed: Feed) -> None:
        """Show attempts of this session."""
        self._feed = feed
        self.refresh_document()

    def show_attempt(self, candidate: str) -> None:
        """Show another attempt under the open tab."""
        candidate = candidate or ORIGINAL
        if candidate != self.candidate:
            self.candidate = candidate
            self.refresh_document()

    def choose(self, tab: str) -> None:
        """Open a tab."""
        self.tab = tab
        self.query_one(TabsLine).choose(tab)
        self.refresh_document()

    def step(self, by: int) -> None:
        """Open the tab beside."""
        self.choose(TABS[(TABS.index(self.tab) + by) % len(TABS)])

    def next_base(self) -> str:
        """Compare with the next of parent, best and original; return it."""
        base = BASES[(BASES.index(self.look.base) + 1) % len(BASES)]
        self.look = replace(self.look, base=base)
        self.choose("Diff")
        return base

    def on_diff_wanted(self, message: m.DiffWanted) -> None:
        """Show the diff with more or less around it, or with white space the other way."""
        from workbench.widgets.diff_view import wider

        message.stop()
        look = self.look
        whitespace = look.whitespace is not message.whitespace
        self.look = replace(look, context=wider(look.context, message.by), whitespace=whitespace)
        self.choose("Diff")

    def refresh_document(self) -> None:
        """Show what is wanted now, building it if it is not kept; nothing while the pane is hidden."""
        if self._feed is None or not self.display:
            return
        self.name_it(
            title(self._feed.state, self.candidate), subtitle(self._feed.state, self.candidate)
        )
        want = wanted(self._feed.state, self.candidate, self.tab, self.look)
        if self.tab == "Log":
            self._show_log(want)
        elif want in self._kept:
            self._put(want, self._kept[want])
        elif self._building is None:
            self._build(want, builder(self._feed.state, want, self._feed.text, self._feed.folder))

    def _build(self, want: Wanted, build: Callable[[], Document]) -> None:
        self._building = want

        def work() -> None:
            try:
                found = build()
            except Exception as error:
                logger.exception("cannot build the %s of %s", want.tab, want.candidate)
                found = document(text_lines(f"cannot show this: {error!r}", "warn"))
            self.post_message(m.DocumentReady(want, found))

        self.run_worker(work, thread=True, group="document", exit_on_error=False)

    def on_document_ready(self, message: m.DocumentReady) -> None:
        """Keep what was built; show it if it is still wanted, else build what is."""
        message.stop()
        self._building = None
        if len(self._kept) >= KEPT:
            self._kept.clear()
        self._kept[message.key] = message.document
        self.refresh_document()

    def _put(self, want: Wanted, found: Document) -> None:
        same = self._shown is not None and (
            self._shown.candidate,
            self._shown.tab,
            self._shown.look.base,
        ) == (
            want.candidate,
            want.tab,
            want.look.base,
        )
        self._shown = want
        self.view.show(found, keep_place=same)

    def _show_log(self, want: Wanted) -> None:
        """Show the story and the engine's log; made again only when one of them grew."""
        if self._feed is None:
            return
        same = self._shown is not None and self._shown.tab == "Log"
        self._shown = want
        silent = self._feed.engine is Presence.NONE and self._feed.state.state not in ENDED
        told = [story.line(fact) for fact in self._feed.recent]
        found = log_document(
            [inert_line(line) for line in told],
            self._log(),
            self._feed.folder.name,
            engine_first=silent,
        )
        self.view.show(found, keep_place=same)

    def _log(self) -> str:
        if self._feed is None:
            return ""
        try:
            data = self._feed.folder.log.read_bytes()[-LOG_BYTES:]
        except OSError as error:
            return f"no log: {error.strerror}"
        return data.decode("utf-8", "replace")

    def on_tab_chosen(self, message: m.TabChosen) -> None:
        """Open the clicked tab."""
        message.stop()
        self.choose(message.tab)

    def on_show(self) -> None:
        """Build what was not worth building while hidden."""
        self.refresh_document()
