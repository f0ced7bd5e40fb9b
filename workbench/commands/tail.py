"""`pike tail`: what happened, a line per event; complete enough to follow a whole search by ear or in CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import lookup, story
from workbench.errors import DONE, FAILED
from workbench.follow import Follower
from workbench.idling import Idling

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Print every fact; with `--follow`, those to come until the search ends."""
    follower = Follower(lookup.session(typed.session))
    idling = Idling(printer.talk)
    for fact in follower.facts(follow=typed.follow, on_look=idling.look):
        idling.happened()
        if typed.json:
            printer.json(story.row(fact))
        else:
            printer.data(story.line(fact))
    if typed.follow and follower.abandoned:
        name = follower.folder.name
        printer.talk(f"no engine runs {name} any more; `pike resume {name}` starts one.")
        return FAILED
    return DONE
