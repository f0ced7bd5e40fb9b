"""`pike attach`: the live screen of a running or finished session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import lookup, screen

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Open the screen."""
    folder = lookup.session(typed.session)
    lookup.state(folder)
    return screen.open_on(folder, printer, instead=f"pike tail {folder.name} --follow")
