"""The tables `[models.NAME]` that a session uses, kept with it: its engine runs elsewhere than its settings lie.

They name the variables that hold keys, never a key.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from sessions.models.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sessions.folder import SessionFolder

Tables = dict[str, dict[str, Any]]


def each(models: Mapping[str, str]) -> list[str]:
    """Return every model's name once, cascades taken apart."""
    names = (name for entry in models.values() for name in entry.split(","))
    return [name for name in dict.fromkeys(names) if name]


def keep(
    folder: SessionFolder, names: Iterable[str], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    """Keep the tables of these models; those kept before stay where the settings no longer have them."""
    kept = tables_of(folder)
    found = {name: dict(tables[name]) for name in names if name in tables}
    if found and found != {name: kept.get(name) for name in found}:
        write_whole(_path(folder), json.dumps({**kept, **found}, indent=1))


def tables_of(folder: SessionFolder) -> Tables:
    """Return the tables kept with a session."""
    try:
        found = json.loads(_path(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("Tables", found) if isinstance(found, dict) else {}  # written by `keep`


def _path(folder: SessionFolder) -> Path:
    return folder.artifacts / "models.json"
