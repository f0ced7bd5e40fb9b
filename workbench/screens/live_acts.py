"""What the keys of the live screen do; `live.py` shows. One class a file, because Textual wants acts on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from sessions.lock import Presence
from workbench import messages as m
from workbench.asking import ask, start
from workbench.format import plural
from workbench.plain import Inert, inert_line
from workbench.screens.choice import CANCEL, STAY, Answer, Choice
from workbench.screens.detail_pane import DetailPane
from workbench.shown import Standing
from workbench.widgets.attempt_table import AttemptTable
from workbench.widgets.filter_line import FilterLine
from workbench.widgets.frame import Separator
from workbench.widgets.lineage_tree import LineageTree
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.message import Message
    from textual.widgets import Input

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord
    from workbench.app import PikeApp
    from workbench.feed import Feed

PANES = ("#lineages", "#attempts", "#text", "#agents")
AXES = ("queries", "money", "time")
FILTER_HINT = "correct  !suspect  >1.5x  by:EFA  lineage:003  any word"


class LiveActs(Screen[None]):
    """The acts on one session and on what is seen of it."""

    def __init__(self, folder: SessionFolder) -> None:
        super().__init__()
        self.folder = folder
        self.feed: Feed | None = None
        self.standing = Standing("running")
        self.query_text = ""
        """The filter."""
        self.axis = AXES[0]
        self.trouble = ""
        """What failed and is not settled."""
        self.draft = Inert("")
        """A guide not sent yet: this viewer's only."""
        self._searching = False

    @property
    def pike(self) -> PikeApp:
        """The application, by its own type."""
        app: App[Any] = self.app
        return app  # pyright: ignore[reportReturnType] - only PikeApp shows this screen

    @property
    def table(self) -> AttemptTable:
        """The attempts."""
        return self.query_one("#attempts", AttemptTable)

    @property
    def detail(self) -> DetailPane:
        """The detail pane."""
        return self.query_one("#detail", DetailPane)

    def paint_rows(self) -> None:
        """Show the attempts again."""
        raise NotImplementedError

    def paint_chart(self) -> None:
        """Draw the curve again."""
        raise NotImplementedError

    def paint_top(self) -> None:
        """Show status line and banner again."""
        raise NotImplementedError

    # --- asking the session

    def ask(self, act: str, args: dict[str, Any] | None = None, *, revive: bool = False) -> None:
        """Write a command, in a thread; the screen shows that it waits, and when it was taken."""
        seen = self.feed.state.seq if self.feed else 0
        self._in_thread(lambda: ask(self.folder, act, args or {}, seen, revive=revive))

    def _in_thread(self, work: Callable[[], Message | None]) -> None:
        def run() -> None:
            told = work()
            if told is not None:
                self.post_message(told)

        self.run_worker(run, thread=True, group="asking", exit_on_error=False)

    def action_pause(self) -> None:
        """Pause what runs, resume what is paused, revive what has no engine."""
        if self.feed is None:
            return
        alive = self.feed.engine in (Presence.ALIVE, Presence.FOREIGN)
        if self.standing.active and self.standing.word != "pausing" and alive:
            self.ask("pause", {"now": False})
        elif alive:
            self.ask("resume")
        elif self.standing.word in ("crashed", "stopped") and self.standing.silent:
            self._in_thread(lambda: start(self.folder))
        else:
            self.ask("resume", revive=True)

    def action_pause_now(self) -> None:
        """Pause and cancel evaluations; they are done again on resume."""
        self.ask("pause", {"now": True})
        self.tell("pausing now: evaluations are cancelled, queries already sent are kept")

    def action_stop(self) -> None:
        """Ask how to stop, then do."""
        flying = len(self.feed.state.in_flight) if self.feed else 0
        lost = f"Stop now, losing {plural(flying, 'query', 'queries')} in flight"
        answers = (
            Answer("x", "Stop; what is in flight finishes", "stop"),
            Answer("X", lost, "now"),
            CANCEL,
        )
        said = [Inert("The engine pauses, then ends. Nothing recorded is lost; p goes on later.")]
        self.pike.push_screen(
            Choice(inert_line(f"Stop {self.folder.name}"), said, answers), self._stop
        )

    def _stop(self, answer: str | None) -> None:
        if answer:
            self.ask("stop", {"now": answer == "now"})

    def action_ban(self) -> None:
        """Ask whether to ban the attempt under the cursor, or to lift its ban."""
        attempt = self.attempt()
        if attempt is None:
            self.tell("no attempt is selected")
            return
        if attempt.banned:
            said = [Inert("It may be a parent and an inspiration again.")]
            answers = (Answer("X", "Lift the ban", "off"), CANCEL)
        else:
            said = [Inert("No new proposal starts from it. What was measured stays.")]
            answers = (
                Answer("X", "Ban it and what descends from it", "subtree"),
                Answer("o", "Ban only this one", "one"),
                CANCEL,
            )
        title = inert_line(f"Ban {attempt.id}" if not attempt.banned else f"Banned: {attempt.id}")
        self.pike.push_screen(Choice(title, said, answers), lambda a: self._ban(attempt.id, a))

    def _ban(self, candidate: str, answer: str | None) -> None:
        if answer:
            args = {"candidate": candidate, "subtree": answer == "subtree", "off": answer == "off"}
            self.ask("ban", args)

    def action_steer(self) -> None:
        """Open the dialog for guides."""
        from workbench.screens.steer import SteerScreen, Wish

        if self.feed is None:
            return

        def done(wish: Wish | None) -> None:
            if wish is not None:
                self.draft = wish.draft
                for act, args in wish.commands:
                    self.ask(act, args)

        screen = SteerScreen(self.feed.state, self.table.selected, self.draft)
        self.pike.push_screen(screen, done)

    def action_withdraw(self) -> None:
        """Withdraw the newest guide that still acts or waits."""
        from sessions.steering import in_force

        state = self.feed.state if self.feed else None
        found = [s for s in state.steers.values() if in_force(state, s)] if state else []
        if not found:
            self.tell("no guide is waiting or in force")
            return
        self.ask("withdraw", {"steer": found[-1].id})
        self.tell(f"withdrawing {found[-1].id}; it acts from the next prompt")

    def action_leave(self) -> None:
        """Leave; while a search runs, say first that it goes on."""
        if self.screen.get_selected_text():
            self.screen.clear_selection()
            return
        if not self.standing.active:
            self.pike.exit(0)
            return
        answers = (
            Answer("enter", "Leave", "leave"),
            Answer("p", "Pause, then leave", "pause"),
            Answer("x", "Stop it, then leave", "stop"),
            STAY,
        )
        said = [Inert("The search goes on without this window.")]
        tail = [inert_line(f"Come back with:  pike attach {self.folder.name}")]
        title = inert_line(f"Leave {self.folder.name}")
        self.pike.push_screen(Choice(title, said, answers, tail), self._leave)

    def _leave(self, answer: str | None) -> None:
        seen = self.feed.state.seq if self.feed else 0
        match answer:
            case "pause":
                ask(self.folder, "pause", {"now": False}, seen)
            case "stop":
                ask(self.folder, "stop", {"now": False}, seen)
            case "leave":
                pass
            case _:
                return
        self.pike.exit(0)

    # --- the selected attempt

    def attempt(self) -> AttemptRecord | None:
        """Return the attempt under the cursor."""
        row = self.table.selected
        return self.feed.state.attempts.get(row.key) if self.feed and row else None

    def action_copy(self) -> None:
        """Copy the attempt's id."""
        row = self.table.selected
        if row:
            self.pike.copy_text(row.key, row.key)

    def action_copy_content(self) -> None:
        """Copy what the detail pane shows."""
        text = self.detail.view.document.text
        self.pike.copy_text(text, plural(len(text), "character"))

    def action_write(self) -> None:
        """Write the candidate's source to a new file in the current folder."""
        attempt = self.attempt()
        if attempt is None or self.feed is None:
            return
        source = self.feed.text(attempt.source_key)
        try:
            path = _free(Path.cwd(), f"{self.folder.name}-{attempt.id}")
            path.write_text(source, encoding="utf-8", errors="surrogatepass")
        except OSError as error:
            self.post_message(m.Failed(f"cannot write {attempt.id}: {error}"))
        else:
            self.tell(f"wrote {path}")

    # --- what is seen

    def show_pane(self, number: int) -> None:
        """Bring a pane to the front and give it the keys."""
        for other in range(1, len(PANES) + 1):
            self.set_class(other == number, f"-pane-{other}")
        self.remove_class("-chart")
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

    def action_chart(self) -> None:
        """Show the chart alone, or everything again."""
        self.toggle_class("-chart")
        self.call_after_refresh(self.paint_chart)

    def action_axis(self) -> None:
        """Draw the curve over something else."""
        self.axis = AXES[(AXES.index(self.axis) + 1) % len(AXES)]
        title = {"time": "minutes", "money": "dollars"}.get(self.axis, self.axis)
        self.query_one("#chart-line", Separator).set_title(f"best so far, by {title}")
        self.paint_chart()

    def action_follow(self) -> None:
        """Follow the newest attempt, or stop following."""
        self.table.follow = not self.table.follow
        if self.table.follow:
            self.table.action_cursor_first()
        self.paint_rows()

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
            if message.source.cursor:
                message.source.follow = False
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
        if isinstance(message.source, LineageTree) and message.key.startswith("lineage:"):
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

    def on_key_pressed(self, message: m.KeyPressed) -> None:
        """Do what the clicked key does."""
        message.stop()
        self.app.simulate_key(message.key)

    def on_failed(self, message: m.Failed) -> None:
        """Keep a failure in the banner until it is settled."""
        message.stop()
        self.trouble = message.what
        self.paint_top()

    def on_told(self, message: m.Told) -> None:
        """Say that something happened."""
        message.stop()
        self.tell(message.what)

    def tell(self, what: str) -> None:
        """Say for a few seconds that something happened."""
        self.pike.tell(what)


def _free(folder: Path, stem: str) -> Path:
    """Return a file name that is not taken: `STEM.py`, `STEM-2.py`."""
    path, number = folder / f"{stem}.py", 2
    while path.exists():
        path, number = folder / f"{stem}-{number}.py", number + 1
    return path
