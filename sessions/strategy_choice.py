"""A strategy by what `--strategy` names: one of ours, or a person's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import own_strategy
from strategies import registry

if TYPE_CHECKING:
    from sessions.facts import Opened
    from strategies.protocol import Strategy
    from strategies.registry import Entry


def entry(name: str) -> Entry:
    """Return a strategy, a preset, or a person's own, whose file is run.

    Raises:
        UnknownStrategy: with the nearest name.
        OwnStrategyRefused: the file is missing, or is no strategy.
    """
    return own_strategy.load(name).entry if own_strategy.is_own(name) else registry.entry(name)


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
