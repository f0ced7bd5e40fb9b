"""The application: screens, themes, help and palette. A viewer: it may vanish at any moment without harm."""

from __future__ import annotations

import gc
import logging
import os
import sys
import time
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import App

from sessions.folder import root, sessions_root
from workbench import config, theme
from workbench import messages as m
from workbench.actions import Where, bindings
from workbench.announcing import Announcer
from workbench.errors import WorkbenchError
from workbench.glyphs import ASCII, NEEDS_YOU, UNICODE, is_unicode
from workbench.keymap import Keymap, keymap
from workbench.plain import inert_line
from workbench.too_small import is_too_small, keys_left
from workbench.typed_ahead import TypedAhead

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from textual.screen import Screen

    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.widgets.steer_form import Draft

logger = logging.getLogger(__name__)

LOG_NAME = "viewer.log"
DUMB = "this terminal (TERM=dumb) cannot show screens; use: pike run --plain, pike tail SESSION --follow"


SELDOM = (700, 10, 40)
"""When Python looks for garbage: at everything four times less often than usual, because no key is heard meanwhile."""
WIDTHS = [(0, "-tiny-w"), (60, "-narrow"), (100, "-medium"), (140, "-wide")]
HEIGHTS = [(0, "-tiny-h"), (16, "-short"), (34, "-tall")]
"""Classes that a screen gets by its size; style sheets do the rest."""


class PikeApp(App[object]):
    """Opens on one session, or on the list of all."""

    CSS_PATH: ClassVar = ["styles/tones.tcss", "styles/live.tcss", "styles/session_list.tcss"]
    TITLE = "pike"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = bindings(Where.EVERYWHERE)
    NOTIFICATION_TIMEOUT = 5
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    def __init__(
        self,
        folder: SessionFolder | None,
        *,
        under: Path | None = None,
        now: Callable[[], float] = time.time,
        unicode: bool = True,
        wanted_theme: str = "",
        bell: bool = True,
        title: bool = True,
        calm: bool = False,
        keys: Keymap | None = None,
    ) -> None:
        super().__init__()
        self.keys = keys or Keymap()
        self.set_keymap(dict(self.keys.changed))
        self.now = now
        self._folder = folder
        self._under = under or (folder.path.parent if folder else sessions_root())
        self._wanted_theme = wanted_theme
        self.pace = 2.0 if calm else 1.0
        """What the time between two looks at a journal is multiplied by."""
        sign = (UNICODE if unicode else ASCII).session(NEEDS_YOU)
        self.announcer = Announcer(self._to_terminal, bell=bell, title=title, sign=sign)
        self.mistake = ""
        """What is told after a screen that ended by a mistake of ours."""
        self._drafts: dict[Path, Draft] = {}
        self._models: tuple[str, ...] | None = None
        self._ahead = TypedAhead()
        self.new_session_draft: dict[str, str] = {}
        """What was typed in the form of a new session and not started."""
        self.set_class(not unicode, "-ascii")
        self.animation_level = "none"
        for one in theme.THEMES:
            self.register_theme(one)
        self.theme = theme.choose(os.environ, wanted_theme)

    async def on_event(self, event: events.Event) -> None:
        """Handle what happened; no key acts on what is not seen, or not there yet."""
        typed = event if isinstance(event, events.Key | events.Paste) else None
        if typed is None or typed.is_forwarded or not self._keeps_back(typed):
            await super().on_event(event)

    def _keeps_back(self, event: events.Key | events.Paste) -> bool:
        key = event if isinstance(event, events.Key) else None
        if is_too_small(self.screen):
            return key is None or key.key not in keys_left(self.screen, self.keys)
        return key is not None and self._ahead.keeps(self.screen, key, self.keys)

    async def press_ahead(self) -> None:
        """Press the keys that were typed while the screen in front was being read."""
        for key in self._ahead.taken(self.screen):
            await super().on_event(key)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our design tokens, for a theme without them."""
        return theme.defaults()

    def get_default_screen(self) -> Screen[None]:
        """Return the first screen: nothing else is painted before it."""
        return self._live(self._folder) if self._folder else self._sessions()

    def draft(self, folder: SessionFolder) -> Draft:
        """Return what was typed for a session and not sent: this viewer's only."""
        from workbench.widgets.steer_form import Draft

        return self._drafts.setdefault(folder.path, Draft())

    def model_names(self) -> tuple[str, ...]:
        """Return the models that can be named as they are."""
        from workbench.model_choice import catalog

        if self._models is None:
            try:
                self._models = tuple(catalog(config.load().models).names())
            except WorkbenchError:
                self._models = ()
        return self._models

    def show_live(self, folder: SessionFolder) -> None:
        """Open a session over the list; the one the application began on is still below it."""
        below = self._below()
        if getattr(below, "folder", None) == folder:
            self.pop_screen()
        else:
            self.push_screen(self._live(folder))

    def show_sessions(self) -> None:
        """Go back to the list; open it if the application began on a session."""
        from workbench.screens.session_list import SessionListScreen

        if isinstance(self._below(), SessionListScreen):
            self.pop_screen()
        else:
            self.push_screen(self._sessions())

    def show_new(self) -> None:
        """Open the form of a new session; what was typed and not started stands in it again."""
        from workbench.screens.new_session import NewSessionScreen

        self.push_screen(NewSessionScreen(self._under, self.new_session_draft))

    def show_begun(self, folder: SessionFolder) -> None:
        """Watch a session that was begun in the form, in the form's place."""
        self.pop_screen()
        self.show_live(folder)

    def show_compare(self, folder: SessionFolder, candidates: Sequence[str]) -> None:
        """Compare attempts of a session, over the screen that asks for it."""
        from workbench.screens.compare import CompareScreen

        self.push_screen(CompareScreen(folder, candidates))

    def show_versus(self, folders: Sequence[SessionFolder], states: Sequence[State] = ()) -> None:
        """Compare sessions on one task, over the screen that asks for it; `states`: theirs, if they were read."""
        from workbench.screens.compare_sessions import CompareSessionsScreen

        self.push_screen(CompareSessionsScreen(folders, states))

    def _below(self) -> object:
        return self.screen_stack[-2] if len(self.screen_stack) > 1 else None

    def _live(self, folder: SessionFolder) -> Screen[None]:
        from workbench.screens.live import LiveScreen

        return LiveScreen(folder)

    def _sessions(self) -> Screen[None]:
        from workbench.screens.session_list import SessionListScreen

        return SessionListScreen(self._under)

    def tell(self, what: str) -> None:
        """Say for a few seconds that something happened; never the only word about a failure."""
        self.notify(inert_line(what, 300), markup=False)

    def _to_terminal(self, sequence: str) -> None:
        """Write what is no part of the picture."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def on_pager_wanted(self, message: m.PagerWanted) -> None:
        """Show a text in the pager; a failure stays in sight."""
        from workbench.paging import NoPager, page

        try:
            page(self, message.text)
        except NoPager as error:
            self.screen.post_message(m.Failed(f"cannot page this: {error}"))

    def copy_text(self, text: str, name: str) -> None:
        """Copy a text and say where it went."""
        from workbench.clipboard import copy

        told = copy(text, self.copy_to_clipboard, os.environ)
        self.tell(f"{name}: {told}")

    def action_help(self) -> None:
        """Show the keys of this screen."""
        from workbench.screens.help import HelpScreen

        where = getattr(self.screen, "WHERE", None)
        if isinstance(where, Where):
            self.push_screen(HelpScreen(where))

    def action_palette(self) -> None:
        """Show every act by name."""
        from textual.command import CommandPalette

        from workbench.palette import ActProvider

        if not CommandPalette.is_open(self):
            self.push_screen(
                CommandPalette(providers=[ActProvider], placeholder="an act by name", id="palette")
            )

    def action_suspend(self) -> None:
        """Suspend this viewer; searches go on."""
        self.action_suspend_process()

    def action_leave_now(self) -> None:
        """Leave without a question."""
        self.exit(0)

    def _fatal_error(self) -> None:
        """End the screen with one line for a person; the traceback, which may hold foreign text, goes to the log."""
        error = self._exception
        logger.error("the screen ended by a mistake", exc_info=error)
        what = inert_line(f"{type(error).__name__}: {error}", 300)
        back = f"pike attach {self._folder.name}" if self._folder else "pike"
        self.mistake = (
            f"pike: the screen ended by a mistake of ours ({what}). Searches go on; `{back}` opens it again. "
            f"The traceback is in {root() / LOG_NAME}.\n"
        )
        self._close_messages_no_wait()

    def on_mount(self) -> None:
        """Name the window."""
        self.sub_title = self._folder.name if self._folder else ""


def run(folder: SessionFolder | None) -> int:
    """Show a session, or the list of all; return the exit code."""
    if os.environ.get("TERM") == "dumb":
        sys.stderr.write(f"pike: {DUMB}\n")
        return 2
    _log_to_file()
    gc.set_threshold(*SELDOM)
    settings = config.load()
    app = PikeApp(
        folder,
        unicode=is_unicode(),
        bell=bool(settings["bell"]),
        title=bool(settings["title"]),
        calm=is_calm(settings.text("calm"), os.environ),
        keys=keymap(settings.keys),
    )
    try:
        result = app.run(mouse=bool(settings["mouse"]))
    finally:
        sys.stderr.write(app.announcer.farewell() + app.mistake)
        sys.stderr.flush()
    return code_of(app, result)


def code_of(app: PikeApp, result: object) -> int:
    """Return the exit code of a screen that was left, with `result`, or that ended by a mistake of ours."""
    return result if isinstance(result, int) else app.return_code or 0


def is_calm(wanted: str, env: Mapping[str, str]) -> bool:
    """Return whether the screen's rates are halved: as wished, else over SSH."""
    return wanted == "yes" or (wanted == "auto" and bool(env.get("SSH_CONNECTION")))


def _log_to_file() -> None:
    """Send warnings to `$PIKE_HOME/viewer.log`: on the screen they would write over it."""
    try:
        handler = logging.FileHandler(root() / LOG_NAME, encoding="utf-8", delay=True)
        logging.basicConfig(handlers=[handler], level=logging.WARNING)
    except OSError:
        logging.basicConfig(handlers=[logging.NullHandler()])
