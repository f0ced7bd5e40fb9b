"""The terminal lent to another program: the screens step aside, and ctrl+c is that program's alone."""

from __future__ import annotations

import signal
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from textual.app import App


def _nothing(_signal: int, _frame: FrameType | None) -> None:
    pass


@contextmanager
def lent(app: App[object]) -> Generator[None]:
    """Give the terminal away while the block runs another program.

    Raises:
        SuspendNotSupported: this terminal cannot be given away, as in a browser.
    """
    with nullcontext() if app.is_headless else app.suspend():
        # ctrl+c reaches the whole process group; a handler of our own, unlike SIG_IGN, is not inherited.
        before = signal.signal(signal.SIGINT, _nothing)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
