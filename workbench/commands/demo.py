"""`pike demo`: a real PIKE-B search on a fixed starter task, with answers written beforehand; no key, no GPU needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models import thinking
from workbench import config, starting
from workbench.watching import Way, begin

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

TASK = "starter/softmax"
QUERIES = "16"
SETTINGS = ("width=5", "places=5", "fixes=2", "ideas=5")
SEED = 0


def wanted(name: str = "", **more: config.Value) -> tuple[starting.Wish, dict[str, config.Value]]:
    """Return the demo, and the flags typed for it, whatever models and limits the settings name.

    `more`: device, sandbox and python, where they were typed.
    """
    flags: dict[str, config.Value] = {
        "strategy": "pike-b",
        "model": "recorded",
        "ideas_model": "recorded",
        "fix_model": "recorded",
        "thinking": thinking.DEFAULT,
        "queries": QUERIES,
        "cost": config.NO_LIMIT,
        "time": "1",
        "precision": "half",
        "tolerance": "budget",
        **more,
    }
    return starting.Wish(task=TASK, name=name, seed=SEED, assign=SETTINGS), flags


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Start the demo."""
    places = {name: getattr(typed, name) for name in ("device", "sandbox", "python")}
    wish, flags = wanted(typed.name or "", **places)
    folder = starting.start(wish, config.load(flags), printer)
    printer.talk(
        f"This is a real search on {TASK}: candidates are built, checked and timed on this machine. Only the "
        "language model's answers are recorded: they were written beforehand."
    )
    printer.talk(f"session {folder.name}: {folder.path}")
    return begin(folder, Way.of(typed), printer)
