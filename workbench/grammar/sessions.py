"""Commands on sessions: listed, shown, followed, paused, gone on with, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, as_json, session, take_over

if TYPE_CHECKING:
    import argparse


def _show(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("candidate", metavar="CANDIDATE", nargs="?", help="c12: that attempt, whole")
    as_json(p)


def _compare(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("others", metavar="CANDIDATE|SESSION", nargs="+",
                   help="c12 c138: attempts of S; or other sessions on the same task")  # fmt: skip
    p.add_argument("--again", action="store_true",
                   help="time the attempts again, back to back; enters no journal")  # fmt: skip
    p.add_argument("--diff", action="store_true", help="print the patch from the first to the last")
    as_json(p)


def _tail(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("--follow", "-f", action="store_true", help="go on until the search ends")
    as_json(p)


def _now(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("--now", action="store_true", help="cancel evaluations; keep what was paid")


def _stop(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("--now", action="store_true", help="at once: calls in flight are lost")


def _resume(p: argparse.ArgumentParser) -> None:
    session(p)
    take_over(p, "the engine that ran it on another host is gone")


def _step(p: argparse.ArgumentParser) -> None:
    session(p)
    p.add_argument("--resume", action="store_true", help="go on even where a person paused it")
    take_over(p, "the engine that ran it on another host is gone")
    as_json(p)


COMMANDS: tuple[Command, ...] = (
    Command("sessions", "list the sessions", as_json),
    Command("show", "show a session or one attempt", _show),
    Command("compare", "attempts of a session, or sessions on one task, side by side", _compare),
    Command("tail", "print what happened, a line per event", _tail),
    Command("attach", "open the live screen of a session", session),
    Command("pause", "start nothing new; what is in flight finishes", _now, "control"),
    Command("resume", "go on; also revives a crashed or stopped engine", _resume, "control"),
    Command("stop", "pause, then end the engine", _stop, "control"),
    Command("step", "run until only others can go on; say what is awaited", _step),
)
