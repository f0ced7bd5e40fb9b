"""The file of an experiment: TOML into what was written, every refusal with its line.

```toml
tasks = ["starter/softmax", "level3-pike", "mine/*.py"]   # ids, suites, files, globs of either
repeats = 3                                               # or seeds = [1, 2, 3]
model = "claude-opus-5-5"                                 # what all configurations share
[each]                                                    # the budget of every run
queries = 100
[total]                                                   # of all runs together
cost = 200
[places]                                                  # what they share
sessions = 4
model_calls = 20
[configurations.pike-b]
strategy = "pike-b"
[configurations.wide]
strategy = "pike-b"
set = { width = 20 }
```
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from sessions.experiments.plan import LABELS, SharedPlaces
from sessions.folder import NAME
from workbench import task_files
from workbench.config import BY_NAME, checked
from workbench.errors import WrongUsage, nearest
from workbench.run_line import FLAGS, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from workbench.config import Value

BUDGET = ("queries", "cost", "time")
PLACES = ("sessions", "model_calls", "evaluations", "gpus")
OF_ALL = ("device", "executor", "sandbox", "python", "notify")
"""Settings that no configuration may have for itself: machine and person are the same for all."""
OWN = tuple(name for name in (*FLAGS, *OPTIONS) if name not in OF_ALL)
"""Settings of a configuration; those outside it hold for every configuration that does not set them."""
SHARED = tuple(name for name in (*FLAGS, *OPTIONS) if name not in (*BUDGET, "strategy"))
TOP = ("name", "tasks", "repeats", "seeds", "each", "total", "places", "configurations", *SHARED)
MOST_REPEATS = 1000
LIMIT = 1_000_000
"""Characters of such a file."""

Place = tuple[str, ...]
"""Keys that lead to a value: `("configurations", "wide", "set")`."""


@dataclass(frozen=True, slots=True)
class Written:
    """An experiment's file, as it was written."""

    path: Path
    text: str
    name: str
    """Empty: the file's stem."""
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    configurations: Mapping[str, Mapping[str, Any]]
    """By name: settings that were written, those of all configurations among them; `set` and `instructions` too."""
    total: Mapping[str, Value]
    places: SharedPlaces

    def at(self, *place: str) -> str:
        """Return file and line of a key, or of the nearest table around it, as a refusal begins."""
        return f"{self.path}{_line(self.text, place)}"


def read(path: Path) -> Written:
    """Return what a file says.

    Raises:
        WrongUsage: it cannot be read, is not TOML, or holds what no experiment has; with file and line.
    """
    text = task_files.text(path, LIMIT)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongUsage(f"{path} is not TOML: {error}.") from error
    return _Reading(path, text, table).written()


def on(written: Written, executor: str | None) -> Written:
    """Return an experiment whose sessions evaluate where was typed, whatever its file says; None: as it says."""
    if executor is None:
        return written
    each = {name: {**one, "executor": executor} for name, one in written.configurations.items()}
    return replace(written, configurations=each)


class _Reading:
    """One file being read; it knows where each refusal is about."""

    def __init__(self, path: Path, text: str, table: dict[str, Any]) -> None:
        self._path, self._text, self._table = path, text, table

    def written(self) -> Written:
        self._known(self._table, TOP, ())
        return Written(
            path=self._path,
            text=self._text,
            name=self._word("name"),
            tasks=self._words("tasks"),
            seeds=self._seeds(),
            configurations=self._configurations(),
            total=self._settings(self._sub("total"), BUDGET, ("total",)),
            places=self._places(),
        )

    def _refuse(self, place: Place, why: str) -> WrongUsage:
        return WrongUsage(f"{self._path}{_line(self._text, place)}: {why}")

    def _known(self, table: Mapping[str, Any], known: Collection[str], place: Place) -> None:
        for key in table:
            if key not in known:
                inside = f" in [{'.'.join(place)}]" if place else ""
                hint = nearest(key, known) or f" There are: {', '.join(known)}."
                raise self._refuse((*place, key), f"there is no key {key!r}{inside}.{hint}")

    def _sub(self, name: str) -> dict[str, Any]:
        found = self._table.get(name, {})
        if not isinstance(found, dict):
            raise self._refuse((name,), f"{name} must be a table: [{name}].")
        return cast("dict[str, Any]", found)  # keys of TOML are text

    def _word(self, name: str) -> str:
        found = self._table.get(name, "")
        if not isinstance(found, str):
            raise self._refuse((name,), f"{name} must be text.")
        return found

    def _words(self, name: str) -> tuple[str, ...]:
        found = self._list(self._table.get(name))
        if not found or not all(isinstance(one, str) and one for one in found):
            raise self._refuse(
                (name,), f'{name} must be a list of names: {name} = ["starter/softmax"].'
            )
        return tuple(dict.fromkeys(map(str, found)))

    def _list(self, value: object) -> list[Any]:
        return cast("list[Any]", value) if isinstance(value, list) else []  # any TOML

    def _seeds(self) -> tuple[int, ...]:
        seeds, repeats = self._table.get("seeds"), self._table.get("repeats")
        if seeds is not None and repeats is not None:
            raise self._refuse(("seeds",), "seeds and repeats say the same; give one of them.")
        if seeds is None:
            count = 1 if repeats is None else repeats
            if not _whole(count, 1, MOST_REPEATS):
                raise self._refuse(("repeats",), f"repeats must be 1 to {MOST_REPEATS}.")
            return tuple(range(1, count + 1))
        found = self._list(seeds)
        if not found or not all(_whole(one, 0, 2**31) for one in found):
            raise self._refuse(("seeds",), "seeds must be whole numbers: seeds = [1, 2, 3].")
        if len(set(found)) < len(found):
            raise self._refuse(("seeds",), "a seed stands twice: its runs would be the same.")
        return tuple(found)

    def _configurations(self) -> dict[str, dict[str, Any]]:
        tables = self._sub("configurations")
        if not tables:
            raise self._refuse(
                ("configurations",),
                "there is no configuration; a table [configurations.NAME] is one.",
            )
        shared = self._settings({k: v for k, v in self._table.items() if k in SHARED}, SHARED, ())
        each = self._settings(self._sub("each"), BUDGET, ("each",))
        return {
            name: {**shared, **each, **self._configuration(name, table)}
            for name, table in tables.items()
        }

    def _configuration(self, name: str, table: object) -> dict[str, Any]:
        place = ("configurations", name)
        if not NAME.match(name) or len(name) > 32:
            raise self._refuse(
                place, f"{name!r} is no name: letters, digits, dots, dashes, at most 32."
            )
        if not isinstance(table, dict):
            raise self._refuse(place, f"{name} must be a table: [configurations.{name}].")
        found = cast("dict[str, Any]", table)  # keys of TOML are text
        own = {key: value for key, value in found.items() if key not in ("set", "instructions")}
        self._known(own, (*OWN, "set", "instructions"), place)
        settings: dict[str, Any] = self._settings(own, OWN, place)
        return {
            **settings,
            "set": self._assigned(found.get("set", {}), (*place, "set")),
            "instructions": self._instructions(found.get("instructions", ""), place),
        }

    def _settings(
        self, table: Mapping[str, Any], known: Sequence[str], place: Place
    ) -> dict[str, Value]:
        self._known(table, known, place)
        where = ((key, f"{self._path}{_line(self._text, (*place, key))}") for key in table)
        found = {key: checked(BY_NAME[key], table[key], at) for key, at in where}
        named = [str(found[k]) for k in ("model", "ideas_model", "fix_model") if found.get(k)]
        if clash := next((name for name in named if name in LABELS), ""):
            raise self._refuse(
                (*place, "model"), f"a model of an experiment cannot be called {clash!r}."
            )
        return {key: "none" if value is None else value for key, value in found.items()}

    def _assigned(self, table: object, place: Place) -> tuple[str, ...]:
        if not isinstance(table, dict):
            raise self._refuse(place, "set must be a table: set = { width = 20 }.")
        pairs = cast("dict[str, Any]", table)  # keys of TOML are text
        return tuple(f"{key}={str(value).strip()}" for key, value in pairs.items())

    def _instructions(self, value: object, place: Place) -> str:
        if not isinstance(value, str):
            raise self._refuse((*place, "instructions"), "instructions must be a file's path.")
        return str((self._path.parent / value).absolute()) if value else ""

    def _places(self) -> SharedPlaces:
        table = self._sub("places")
        self._known(table, PLACES, ("places",))
        for key in PLACES[:3]:
            if key in table and not _whole(table[key], 1, 10_000):
                raise self._refuse(("places", key), f"{key} must be a whole number above zero.")
        gpus = self._list(table.get("gpus", []))
        if "gpus" in table and not (gpus and all(re.fullmatch(r"cuda:\d+", str(g)) for g in gpus)):
            raise self._refuse(("places", "gpus"), 'gpus must be a list: gpus = ["cuda:0"].')
        given: dict[str, Any] = {**table, "gpus": tuple(gpus)}
        return SharedPlaces(**given)


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _line(text: str, place: Sequence[str]) -> str:
    """Return `, line 7` of the key that these keys lead to, or of the nearest table around it; TOML keeps no lines."""
    inside: tuple[str, ...] = ()
    found: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\]]+)\]+", line):
            inside = _keys(header[1])
            found.setdefault(inside, number)
        elif key := re.match(r"\s*([\w\-.\"']+)\s*=", line):
            found.setdefault((*inside, *_keys(key[1])), number)
    near = (tuple(place[:count]) for count in range(len(place), 0, -1))
    number = next((found[keys] for keys in near if keys in found), 0)
    return f", line {number}" if number else ""


def _keys(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^.\s]+", dotted)
    return tuple(part.strip("\"'") for part in parts)
