"""Says what is waited for, once something takes longer than a person expects."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

SLOW_S = 2.0


@contextmanager
def told_if_slow(
    say: Callable[[str], None], words: str, after_s: float = SLOW_S
) -> Generator[None]:
    """Say `words` if the body still runs after some seconds; another thread says them."""
    timer = threading.Timer(after_s, say, (words,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
