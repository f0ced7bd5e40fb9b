"""A session begun from a screen: the checks, the folder and the engine of `pike run`, refusals as data."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import config, launch, run_line, starting
from workbench.errors import WorkbenchError
from workbench.refusals import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.folder import SessionFolder
    from workbench.config import Settings, Value
    from workbench.starting import Wish

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Begun:
    """What came of it."""

    folder: SessionFolder | None = None
    """None: nothing was begun."""
    field: str = ""
    """The flag a refusal is about; empty for none."""
    why: str = ""
    """The refusal; with a folder, why its engine did not start."""
    warnings: tuple[str, ...] = ()


def begin(wish: Wish, typed: Mapping[str, Value]) -> Begun:
    """Check everything, write the session and start its engine; blocking, for some seconds."""
    looked: list[str] = [""]
    try:
        planned = starting.plan(wish, checked(typed, looked.append), looked.append)
        looked.append("name")
        folder = starting.create(planned)
    except Exception as error:  # noqa: BLE001 - the boundary of a worker of the viewer
        return Begun(field=looked[-1], why=words(error))
    try:
        launch.start(folder)
    except Exception as error:  # noqa: BLE001 - the boundary of a worker of the viewer
        return Begun(folder, why=words(error), warnings=planned.warnings)
    return Begun(folder, warnings=planned.warnings)


def checked(typed: Mapping[str, Value], at: starting.At) -> Settings:
    """Return every setting with what was typed over it, each value looked at under its own name.

    Raises:
        WrongUsage: a value of the wrong kind.
    """
    for name, value in typed.items():
        if value is not None:
            at(name)
            config.checked(config.BY_NAME[name], value, f"--{name.replace('_', '-')}")
    at("")
    return run_line.settings(typed)


def words(error: Exception) -> str:
    """Return what a person should read of an error; one that is our own fault is logged."""
    if isinstance(error, WorkbenchError):
        return str(error)
    found = told(error)
    if found is not None:
        return found.text
    logger.error("a session did not begin", exc_info=error)
    return f"this should not have happened: {type(error).__name__}: {error}"
