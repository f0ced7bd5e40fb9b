"""Starts a session's engine and shows the search: a screen on a terminal, else a line per event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.best import best
from sessions.states import SessionState
from workbench import closing, launch, lookup, screen, story
from workbench.errors import DONE, FAILED, INTERRUPTED
from workbench.follow import Follower
from workbench.idling import Idling

if TYPE_CHECKING:
    import argparse

    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.printing import Printer


@dataclass(frozen=True, slots=True)
class Way:
    """How a person wants to see a search."""

    plain: bool
    json: bool
    detach: bool

    @classmethod
    def of(cls, typed: argparse.Namespace) -> Way:
        """Return what was typed; without a terminal it is plain."""
        return cls(bool(typed.plain), bool(typed.json), bool(typed.detach))

    @property
    def screen(self) -> bool:
        """Whether a screen is opened."""
        return not (self.plain or self.json or self.detach) and screen.possible()


def begin(folder: SessionFolder, way: Way, printer: Printer) -> int:
    """Start the engine and show the search; return the exit code."""
    pid = launch.start(folder)
    if way.detach:
        return _detached(folder, pid, way, printer)
    if way.screen:
        code = screen.open_on(folder, printer, instead=f"pike tail {folder.name} --follow")
        found = lookup.state(folder)
        closing.print_summary(folder, found, printer)
        return code if code else _left(found)
    return print_until_over(folder, way, printer)


def _detached(folder: SessionFolder, pid: int, way: Way, printer: Printer) -> int:
    if way.json:
        printer.json({"id": folder.name, "folder": str(folder.path), "engine": pid})
    else:
        printer.data(folder.name)
    printer.talk(f"{folder.name} runs as process {pid}. `pike attach {folder.name}` shows it.")
    return DONE


def print_until_over(folder: SessionFolder, way: Way, printer: Printer) -> int:
    """Print a line per event until the search ends, pauses by itself or loses its engine; return the exit code."""
    follower = Follower(folder)
    idling = Idling(printer.talk)
    try:
        for fact in follower.facts(follow=True, past_pauses=False, on_look=idling.look):
            idling.happened()
            if way.json:
                printer.json(story.row(fact))
            else:
                printer.data(story.line(fact))
    except KeyboardInterrupt:
        printer.talk(f"The search goes on. Come back with:  pike attach {folder.name}")
        return INTERRUPTED
    return _over(follower, way, printer)


def _over(follower: Follower, way: Way, printer: Printer) -> int:
    folder, found = follower.folder, follower.state
    if follower.abandoned:
        printer.talk(
            f"the engine ended without a word: {launch.last_words(folder)} (see {folder.log})"
        )
        printer.talk(f"`pike resume {folder.name}` starts a new one; nothing is lost.")
        return FAILED
    if follower.paused_itself:
        printer.talk(f"{folder.name} needs you: {found.cause}. Then: pike resume {folder.name}")
        return FAILED
    if not way.json:
        closing.print_summary(folder, found, printer)
    return _result(found)


def _left(found: State) -> int:
    """The exit code of whoever closed the screen: the search may still run."""
    return _result(found) if found.state is SessionState.FINISHED else DONE


def _result(found: State) -> int:
    return DONE if best(found) is not None else FAILED
