"""A session's strategy: one of ours, or a person's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import own_strategy
from strategies import registry

if TYPE_CHECKING:
    from sessions.facts import Opened
    from strategies.protocol import Strategy


def of_session(opened: Opened) -> Strategy:
    """Return a fresh strategy as a session began with it.

    Raises:
        StrategyError: this program does not know it any more, or a person's file is gone or changed since.
    """
    if opened.strategy_file:
        found = own_strategy.load(opened.strategy_file, opened.strategy_sha256).entry
    else:
        found = registry.entry(opened.strategy)
    return found.create(opened.settings, opened.seed)


def typed(opened: Opened) -> str:
    """Return what `--strategy` must say to have a session's strategy again."""
    return opened.strategy_file or opened.strategy
