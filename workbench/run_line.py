"""A session to start as a `pike run` line, and the settings that such a line leaves."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from workbench import config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.config import Settings, Value
    from workbench.starting import Wish

FLAGS = (
    "strategy", "model", "fix_model", "ideas_model", "queries", "cost", "time", "device", "sandbox", "precision",
    "tolerance", "python", "notify",
)  # fmt: skip
"""Flags of `pike run` that are settings too."""
OPTIONS = ("plain_start", "informed", "profile_guided", "agent_tools", "thinking", "executor")
"""Such flags besides, which the form takes as settings of the strategy."""


def settings(typed: Mapping[str, Value]) -> Settings:
    """Return every setting, with what was typed over files and environment; None was not typed.

    Raises:
        WrongUsage: a value of the wrong kind; the message names its flag.
    """
    return config.load({name: typed.get(name) for name in (*FLAGS, *OPTIONS)})


def _flag(name: str, value: str) -> list[str]:
    """Return a setting as it is typed; one whose flag takes no value can be turned off by `--set`."""
    flag = f"--{name.replace('_', '-')}"
    if name != "agent_tools":
        return [flag, value]
    return [flag] if value == "yes" else ["--set", f"{name}={value}"]


def line(wish: Wish, typed: Mapping[str, Value]) -> str:
    """Return the command line that starts the same session."""
    words = ["pike", "run", wish.task]
    for name in (*FLAGS, *OPTIONS):
        if typed.get(name) is not None:
            words += _flag(name, str(typed[name]))
    words += [word for pair in wish.assign for word in ("--set", pair)]
    seed = None if wish.seed is None else str(wish.seed)
    more = {"seed": seed, "name": wish.name, "from": wish.origin, "instructions": wish.instructions}
    words += [word for name, value in more.items() if value for word in (f"--{name}", value)]
    return " ".join(shlex.quote(word) for word in words)
