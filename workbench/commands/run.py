"""`pike run`: starts a session on a task and shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import config, starting
from workbench.watching import Way, begin

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

FLAGS = (
    "strategy", "model", "fix_model", "ideas_model", "queries", "cost", "time", "device", "sandbox", "precision",
    "tolerance", "python", "notify",
)  # fmt: skip
"""Flags that are settings too."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Start the session; 0 when it finished, 1 when it paused by itself or nothing is correct."""
    settings = config.load({name: getattr(typed, name) for name in FLAGS})
    wish = starting.Wish(
        task=typed.task,
        name=typed.name or "",
        seed=typed.seed,
        assign=typed.assign,
        origin=typed.origin or "",
        instructions=typed.instructions or "",
    )
    folder = starting.start(wish, settings, printer)
    printer.talk(f"session {folder.name}: {folder.path}")
    return begin(folder, Way.of(typed), printer)
