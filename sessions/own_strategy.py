"""A person's own strategy, `FILE.py:Class`: their code, run in the engine at their word, with their rights.

```
FILE.py:Class ─▶ read, hashed ─▶ run once ─▶ the class is looked at, one is made ─▶ an entry as any of ours
```
The hash stands in `opened`: a file that changed since is refused, since its search could not be the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from ctypes import c_ulong, py_object, pythonapi
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from strategies.errors import OwnStrategyRefused
from strategies.registry import Entry
from strategies.settings import BasicSettings, is_declared

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.protocol import Strategy

T = TypeVar("T")

MARK = ".py:"
LIMIT_S = 60.0
"""For running the file, and making and looking at one strategy."""
WARNING = "{} is your own code: it runs in the engine with your rights, outside every sandbox."
NEEDED = ("queries", "places", "fixes", "fix_memory")
"""What the engine reads of any strategy's settings."""
ATTRIBUTES = (("name", str), ("version", int), ("waits", bool), ("seats", int))
METHODS = ("propose", "absorb", "dump", "load")


@dataclass(frozen=True, slots=True)
class Own:
    """A person's strategy, ready to be used."""

    entry: Entry
    file: str
    """Its absolute path and class: `/home/me/mine.py:Mine`."""
    sha256: str
    """Of the file."""


def is_own(name: str) -> bool:
    """Return whether a name of `--strategy` means a file."""
    return MARK in name or name.endswith(".py")


def load(name: str, sha256: str = "") -> Own:
    """Return the strategy in a file, which runs the file.

    `sha256`: of the file that the session began with; empty for a new session.

    Raises:
        OwnStrategyRefused: it is missing, is no strategy, or changed since.
    """
    path, class_name = _place(name)
    source = _source(path)
    found = hashlib.sha256(source).hexdigest()
    if sha256 and found != sha256:
        raise OwnStrategyRefused(
            f"{path} changed since this session began, so its search could not go on as it began. Put the file back "
            "as it was, or start a new session; --from SESSION:c12 takes a candidate along."
        )
    entry = _in_time(path, lambda: _entry(path, class_name, source))
    return Own(entry, f"{path}:{class_name}", found)


def _in_time(path: Path, act: Callable[[], T]) -> T:
    """Return what running their code gives; in a thread of its own, since nothing else could leave it in the middle.

    Raises:
        OwnStrategyRefused: it takes too long.
    """
    came: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            came.append(act())
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name=f"strategy {path.name}")
    thread.start()
    thread.join(LIMIT_S)
    if thread.is_alive():
        _end(thread)
        raise OwnStrategyRefused(
            f"{path} does not come to an end: {LIMIT_S:g} s after it was begun, it still runs. When the file is read, "
            "and a strategy is made, nothing may loop or wait; look at the top of the file and at __init__."
        )
    if raised:
        raise raised[0]
    return came[0]


def _end(thread: threading.Thread) -> None:
    """Ask a thread that loops to leave at its next instruction; one that sleeps holds no processor."""
    pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread.ident or 0), py_object(SystemExit))
    thread.join(1.0)


def _place(name: str) -> tuple[Path, str]:
    before, _, class_name = name.rpartition(":")
    path = Path(before).expanduser().absolute()
    if not class_name.isidentifier():
        raise OwnStrategyRefused(
            f"--strategy {name!r}: after the file comes a class, as in mine.py:Mine."
        )
    return path, class_name


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise OwnStrategyRefused(f"the strategy's file {path} cannot be read: {why}.") from error


@lru_cache(maxsize=8)
def _entry(path: Path, class_name: str, source: bytes) -> Entry:
    label = f"{path.name}:{class_name}"
    kind = _class(_run(path, source), label, class_name)
    settings = getattr(kind, "Settings", BasicSettings)
    _check_settings(settings, label)
    says = (kind.__doc__ or "a strategy of your own").strip().split("\n", 1)[0].rstrip(".")
    entry = Entry(label, says, settings, _maker(kind, label))
    _check(entry, label)
    return entry


def _run(path: Path, source: bytes) -> ModuleType:
    module = ModuleType(f"own_strategy_{hashlib.sha256(source).hexdigest()[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their annotations up there
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - at the person's word
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise OwnStrategyRefused(
            f"{path} cannot be run: {type(error).__name__}: {error}."
        ) from error
    return module


def _class(module: ModuleType, label: str, class_name: str) -> type[Any]:
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        raise OwnStrategyRefused(f"{label}: the file has no class {class_name}.")
    return found


def _check_settings(settings: object, label: str) -> None:
    """Refuse settings that the engine, the command line and the screens could not read."""
    if not isinstance(settings, type) or not is_dataclass(settings):
        raise OwnStrategyRefused(f"{label}: Settings must be a dataclass.")
    names = [field.name for field in fields(settings)]
    lacking = [name for name in NEEDED if name not in names]
    plain = [field.name for field in fields(settings) if not is_declared(field)]
    if lacking or plain:
        why = (
            f"lacks {', '.join(lacking)}: let it inherit BasicSettings of strategies.settings"
            if lacking
            else f"must declare {', '.join(plain)} by number, share, switch or word of strategies.settings"
        )
        raise OwnStrategyRefused(f"{label}: Settings {why}.")


def _maker(kind: type[Any], label: str) -> Callable[[Any, int], Strategy]:
    def make(settings: Any, seed: int) -> Strategy:
        try:
            return kind(settings, seed)
        except Exception as error:
            raise OwnStrategyRefused(
                f"{label} cannot be made from (settings, seed): {type(error).__name__}: {error}."
            ) from error

    return make


def _check(entry: Entry, label: str) -> None:
    """Refuse a class that lacks what the engine calls, or whose state is not JSON."""
    made: Any = entry.create({}, 0)
    for name, kind in ATTRIBUTES:
        if not isinstance(getattr(made, name, None), kind):
            raise OwnStrategyRefused(f"{label}: {name} must be there, as {kind.__name__}.")
    lacking = [name for name in METHODS if not callable(getattr(made, name, None))]
    if lacking:
        raise OwnStrategyRefused(f"{label}: the method {lacking[0]} is missing.")
    if not isinstance(getattr(made, "settings", None), entry.settings):
        raise OwnStrategyRefused(f"{label}: keep what it is made with as self.settings.")
    try:
        made.load(json.loads(json.dumps(made.dump())))
    except Exception as error:
        raise OwnStrategyRefused(
            f"{label}: load(dump()) through JSON fails: {type(error).__name__}: {error}."
        ) from error
