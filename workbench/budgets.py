"""The hard limits of a session: from the settings, as far as they can hold for its strategy and its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.model import OUTSIDE
from strategies.external import NAME as EXTERNAL
from workbench.errors import WrongUsage
from workbench.kept_models import each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.config import Settings

FREE = frozenset({"offline"})
Limits = dict[str, float | int | None]
_NOT_EXTERNAL = {"queries": "--set attempts=N", "cost": "--time HOURS", "model": "none"}


def limits(settings: Settings) -> Limits:
    """Return the limits that the settings name."""
    queries = settings.number("queries")
    return {
        "queries": None if queries is None else int(queries),
        "cost_usd": settings.number("cost"),
        "hours": settings.number("time"),
    }


def of_session(settings: Settings, models: Mapping[str, str], whole: Mapping[str, Any]) -> Limits:
    """Return the limits of a session: what only its agents know the cost of has no default limit of dollars.

    `models`: role to name. `whole`: every setting of its strategy.
    """
    found = limits(settings)
    if is_external(settings):
        counted = {"attempts": whole["attempts"], "idle_hours": whole["idle_hours"]}
        return {**found, "queries": None, "cost_usd": None, **counted}
    if unpriced_outside(each(models)) and settings.values["cost"].origin == "default":
        return {**found, "cost_usd": None}
    return found


def is_external(settings: Settings) -> bool:
    """Return whether other programs' agents hand the attempts in."""
    return settings.text("strategy") == EXTERNAL


def unpriced_outside(names: list[str]) -> bool:
    """Return whether models answered outside are asked, whose cost nobody here knows, and only free ones besides."""
    return not OUTSIDE.isdisjoint(names) and set(names) <= OUTSIDE | FREE


def check_external(settings: Settings) -> None:
    """Refuse flags that mean nothing where no model is asked.

    Raises:
        WrongUsage: one was typed; what to say instead.
    """
    for name, instead in _NOT_EXTERNAL.items():
        if settings.values[name].origin.startswith("--"):
            hint = f"leave --{name} out" if instead == "none" else f"say {instead}"
            raise WrongUsage(f"an external search asks no language model: {hint}.")
