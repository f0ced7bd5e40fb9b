"""Puts our server's entry into a client's settings file: shows the change, keeps the old file, replaces it whole."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from workbench.errors import CannotGoOn
from workbench.mcp_entries import SERVER

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.mcp_entries import ClientKind

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A settings file before and after; nothing is written yet."""

    path: Path
    before: str | None
    """None where there is no such file yet."""
    after: str

    @property
    def is_made(self) -> bool:
        """Whether the file already says what it should."""
        return self.before == self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old = (self.before or "").splitlines(keepends=True)
        new = self.after.splitlines(keepends=True)
        name = str(self.path)
        lines = difflib.unified_diff(
            old, new, name if self.before is not None else "/dev/null", name
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def snippet(kind: ClientKind, entry: dict[str, Any]) -> str:
    """Return the entry as it would stand in an otherwise empty settings file."""
    if kind.is_toml:
        return _toml(kind.table, entry)
    return json.dumps({kind.table: {SERVER: entry}}, indent=2) + "\n"


def planned(kind: ClientKind, entry: dict[str, Any], path: Path) -> Change:
    """Return the change that puts the entry into a settings file; what else stands there stays.

    Raises:
        CannotGoOn: the file cannot be read, or not be changed without harm.
    """
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    before = _read(path)
    change = _in_toml if kind.is_toml else _in_json
    try:
        after = change(before or "", kind.table, entry)
    except (ValueError, TypeError) as error:
        raise CannotGoOn(
            f"{path} cannot be changed safely ({error}): put the entry there by hand; without --write it is printed."
        ) from error
    return Change(path, before, after)


def make(change: Change) -> Path | None:
    """Write the file anew and return where the old one is kept; None if there was none.

    Raises:
        CannotGoOn: it cannot be written, or changed meanwhile; it is then as it was.
    """
    path = change.path
    if _read(path) != change.before:
        raise CannotGoOn(f"{path} changed just now: try again; nothing was written.")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if change.before is not None else 0o600
        kept = _keep(path, change.before, mode)
        _write(part, change.after, mode)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CannotGoOn(
            f"{path} cannot be written ({error.strerror}): nothing changed."
        ) from error
    return kept


def _keep(path: Path, text: str | None, mode: int) -> Path | None:
    if text is None:
        return None
    names = (path.with_name(f"{path.name}.before-pike{n or ''}") for n in range(1000))
    kept = next(name for name in names if not name.exists())
    _write(kept, text, mode)
    return kept


def _write(path: Path, text: str, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, mode), "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CannotGoOn(f"{path} cannot be read ({why}): nothing was written.") from error


def _in_json(text: str, table: str, entry: dict[str, Any]) -> str:
    settings = _object(json.loads(text) if text.strip() else {}, "it is no JSON object")
    servers = _object(settings.setdefault(table, {}), f"{table} is no JSON object")
    if servers.get(SERVER) == entry:
        return text
    servers[SERVER] = entry
    return json.dumps(settings, indent=_indent(text), ensure_ascii=False) + "\n"


def _object(value: object, else_say: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(else_say)
    return cast("dict[str, Any]", value)


def _indent(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _in_toml(text: str, table: str, entry: dict[str, Any]) -> str:
    """Append the table, or replace it where it stands; what comes of it is read again and compared."""
    before = tomllib.loads(text)
    if before.get(table, {}).get(SERVER) == entry:
        return text
    rest = _without_table(text, f"{table}.{SERVER}").rstrip()
    after = f"{rest}\n\n{_toml(table, entry)}" if rest else _toml(table, entry)
    wanted = {**before, table: {**before.get(table, {}), SERVER: entry}}
    if tomllib.loads(after) != wanted:
        raise ValueError(f"[{table}.{SERVER}] is written in a form of its own")
    return after


def _without_table(text: str, name: str) -> str:
    """Return TOML without the table of a name and those below it."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if header:
            inside = header[1] == name or header[1].startswith(f"{name}.")
        if not inside:
            kept.append(line)
    return "".join(kept)


def _toml(table: str, entry: dict[str, Any]) -> str:
    lines = [f"[{table}.{SERVER}]"]
    lines += [f"{name} = {_value(value)}" for name, value in entry.items() if not _pairs(value)]
    for name, value in entry.items():
        if pairs := _pairs(value):
            lines += ["", f"[{table}.{SERVER}.{name}]", *pairs]
    return "\n".join(lines) + "\n"


def _pairs(value: object) -> list[str]:
    """Return the lines of a table below; nothing for what is no table."""
    if not isinstance(value, dict):
        return []
    return [f"{_key(name)} = {_value(v)}" for name, v in cast("dict[str, Any]", value).items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    """Return strings, numbers, booleans and lists of strings as TOML: its basic strings are JSON's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
