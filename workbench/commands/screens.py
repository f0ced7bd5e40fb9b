"""`pike` alone: the screens, on the session list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import screen

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(_: argparse.Namespace, printer: Printer) -> int:
    """Open the session list."""
    return screen.open_on(None, printer, instead="pike sessions")
