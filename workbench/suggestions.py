"""What a field of the new-session form may hold: tasks, files, strategies and their settings, models, devices."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.models.model_settings import PROVIDERS, of_vendor_name
from sessions.models.port import ModelRefused
from strategies import registry
from strategies.errors import StrategyError
from workbench import task_rows
from workbench.plain import Inert, inert_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sessions.models.catalog import Catalog
    from workbench.gpus import Reading
    from workbench.machine import Machine

MOST_FILES = 200
"""Entries of a folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that may be chosen."""

    key: str
    """What is typed for it; inert, since it is shown."""
    note: Inert
    ready: bool = True
    """False: it is named, but cannot be used as things are."""


def tasks(rows: Iterable[Mapping[str, Any]]) -> list[Option]:
    """Return the tasks that the evaluator lists, with what stands in the way of some."""
    return [
        Option(inert_line(str(r["id"])), inert_line(task_rows.about(r)), r.get("state") != "unfit")
        for r in rows
    ]


def is_path(text: str) -> bool:
    """Return whether what is typed looks like a file's path."""
    return text.startswith((".", "/", "~")) or text.endswith(".py")


def files(typed: str) -> list[Option]:
    """Return the folders and Python files that a path may go on with; blocking, since the disk is read."""
    folder, _, start = typed.rpartition("/")
    place = Path(f"{folder}/" if folder or typed.startswith("/") else ".").expanduser()
    try:
        with os.scandir(place) as entries:
            found = [
                _file(folder, entry) for entry, _ in zip(entries, range(MOST_FILES), strict=False)
            ]
    except OSError:
        return []
    begun = f"{folder}/{start}" if folder or typed.startswith("/") else start
    return sorted((o for o in found if o and o.key.startswith(begun)), key=lambda o: o.key)


def _file(folder: str, entry: os.DirEntry[str]) -> Option | None:
    is_folder = entry.is_dir()
    hidden = entry.name.startswith((".", "__"))
    if (
        hidden
        or entry.name != inert_line(entry.name)
        or not (is_folder or entry.name.endswith(".py"))
    ):
        return None
    name = f"{folder}/{entry.name}" if folder else entry.name
    return Option(f"{name}/" if is_folder else name, Inert("folder" if is_folder else ""))


def strategies() -> list[Option]:
    """Return the strategies and presets."""
    return [Option(name, inert_line(registry.says(name))) for name in registry.names()]


def strategy_settings(strategy: str) -> list[Option]:
    """Return the settings of a strategy, each with the value it has by itself.

    None of a person's own: to read it is to run it.
    """
    try:
        described = registry.describe(strategy)
    except StrategyError:
        return []
    return [
        Option(f"{d.name}={d.default}", inert_line(f"{d.type}: {d.meaning}")) for d in described
    ]


def models(known: Catalog, labels: Iterable[str]) -> list[Option]:
    """Return the models that can be named here, those that can be asked first.

    `labels`: how models of earlier sessions are called.
    """
    used = [name for label in labels if of_vendor_name(name := label.partition(" (")[0])]
    named = [name for name in known.names() if not name.endswith((":SESSION", ":FILE"))]
    options = [_model(known, name) for name in dict.fromkeys([*named, *used])]
    return sorted(options, key=lambda option: not option.ready)


def _model(known: Catalog, name: str) -> Option:
    note = _NEEDS_NO_KEY.get(name)
    if note is not None:
        return Option(name, note)
    try:
        label = known.resolve(name).label
    except ModelRefused as error:
        return Option(inert_line(name), inert_line(str(error), 90), ready=False)
    return Option(inert_line(name), inert_line(f"{label}; its key is there", 90))


_NEEDS_NO_KEY = {
    "offline": Inert("rules, no model; needs no key"),
    "recorded": Inert("answers written beforehand, for some starter tasks; needs no key"),
}


def keys(known: Catalog) -> str:
    """Return which keys were found, and whose models they reach."""
    found = known.keys_found()
    if not found:
        variables = ", ".join(p.keys[0] for p in PROVIDERS.values())
        return f"no key found ({variables}); offline needs none"
    return f"keys found: {', '.join(found)}; offline needs none"


def devices(found: Machine, readings: Sequence[Reading]) -> list[Option]:
    """Return the devices a session may run on, and whether each is free."""
    by_name = {f"cuda:{reading.index}": reading for reading in readings}
    options = [_gpu(name, found, by_name.get(name)) for name in found.gpus]
    first = found.gpus[0] if found.gpus else "cpu"
    cpu = Option("cpu", inert_line(found.row("cpu").found))
    return [Option("auto", inert_line(f"{first} here")), *options, cpu]


def _gpu(name: str, found: Machine, reading: Reading | None) -> Option:
    if reading is None:
        return Option(name, inert_line(found.row(name).found))
    state = f"busy, {reading.load_percent or 0:.0f} %" if reading.busy else "free"
    return Option(name, inert_line(f"{reading.name}, {state}"))


def matching(options: Sequence[Option], typed: str) -> list[Option]:
    """Return the options that go with what is typed; those it begins, or whose name it begins, come first."""
    words = typed.lower()
    ranked = [(place, option) for option in options if (place := _place(option, words)) is not None]
    return [option for _, option in sorted(ranked, key=lambda pair: pair[0])]


def _place(option: Option, words: str) -> int | None:
    key = option.key.lower()
    if key.startswith(words):
        return 0
    if key.rpartition("/")[2].startswith(words):
        return 1
    if words in key:
        return 2
    return 3 if words in option.note.lower() else None
