"""The task or candidate that was named: a file of the user's is registered, a `SUITE/NAME` is looked up."""

from __future__ import annotations

import ast
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import evaluator
from workbench.errors import CannotGoOn, WrongUsage, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

SOURCE_LIMIT = 200_000
"""Characters of one candidate's source; the evaluator's own limit."""


@dataclass(frozen=True, slots=True)
class NamedTask:
    """A task to work on."""

    id: str
    """`SUITE/NAME`."""
    title: str
    source: str
    needs_cuda: bool = False
    """Whether it names CUDA without asking whether it is there."""
    file: str = ""
    """A person's file that is not kept yet."""


def find(named: str, *, keep: bool = True) -> NamedTask:
    """Return the task of a path or of a `SUITE/NAME`; a file is kept as `local/STEM-SHA8`, or only looked at.

    Raises:
        WrongUsage: no such file or task, or the file is not in KernelBench format.
    """
    path = Path(named).expanduser()
    try:
        known = bool(named) and path.stat()
    except (OSError, ValueError):  # of a name that no file can have, too
        known = False
    if known and stat.S_ISREG(known.st_mode):
        return _registered(path) if keep else _looked(path)
    if known:
        kind = "a folder" if stat.S_ISDIR(known.st_mode) else "no plain file"
        raise WrongUsage(f"{named} is {kind}; a task is one file, or SUITE/NAME.")
    if not named:
        raise WrongUsage("the task's name is empty; a task is one file, or SUITE/NAME.")
    if named.endswith(".py") or named.startswith((".", "/", "~")):
        raise WrongUsage(f"there is no file {named}.")
    return listed(named)


def candidate(path: Path) -> str:
    """Return the source of a candidate's file.

    Raises:
        WrongUsage: it cannot be read, is not Python, or defines no `ModelNew`.
    """
    source = text(path)
    try:
        names = {getattr(node, "name", "") for node in ast.walk(ast.parse(source))}
    except (SyntaxError, ValueError, RecursionError) as error:
        raise WrongUsage(f"{path} is not a Python file: {error}.") from error
    if "ModelNew" not in names:
        raise WrongUsage(f"{path} defines no class ModelNew: it is no candidate.")
    return source


def text(path: Path, limit: int = SOURCE_LIMIT) -> str:
    """Return the text of a file.

    Raises:
        WrongUsage: it cannot be read, is no text, or is too long.
    """
    try:
        found = path.expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise WrongUsage(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        raise WrongUsage(f"{path} cannot be read: {error.strerror}.") from error
    if len(found) > limit:
        raise WrongUsage(f"{path} has {len(found):,} characters; {limit:,} is the most.")
    return found


def keep(task: NamedTask) -> None:
    """Keep the file of a task that was only looked at, so that the evaluator finds it by its id.

    Raises:
        WrongUsage: it has changed since.
    """
    if task.file and _registered(Path(task.file)).id != task.id:
        raise WrongUsage(f"{task.file} has changed in this moment: start again.")


def _looked(path: Path) -> NamedTask:
    return replace(_of_file("--look", path), file=str(path.absolute()))


def _registered(path: Path) -> NamedTask:
    return _of_file("--add", path)


def _of_file(flag: str, path: Path) -> NamedTask:
    try:
        rows = evaluator.ask("tasks", flag, str(path.absolute()), "--json")
    except CannotGoOn as error:
        raise WrongUsage(str(error)) from error
    return of_row(rows[0])


def listed(named: str) -> NamedTask:
    """Return the task of a `SUITE/NAME`, or of the beginning of one.

    Raises:
        WrongUsage: none, or several, are called so.
    """
    try:
        rows = evaluator.tasks(named)
    except CannotGoOn as error:
        raise WrongUsage(str(error)) from error
    if len(rows) > 1:
        told = ", ".join(str(row["id"]) for row in rows[:8])
        raise WrongUsage(f"{named!r} may be any of: {told}. Type more of it.")
    if not rows:
        hint = nearest(named, [str(row["id"]) for row in evaluator.tasks()])
        raise WrongUsage(
            f"there is no task {named!r} and no such file.{hint} `pike tasks` lists them."
        )
    return of_row(rows[0])


def check_named(names: Iterable[str]) -> None:
    """Refuse, before minutes of work on the others, a name that stands for no file, folder, suite or task.

    Raises:
        WrongUsage: one of them is nothing of it.
    """
    unknown = [name for name in names if not _lies_there(name)]
    if not unknown:
        return
    known = [str(row["id"]) for row in evaluator.tasks()]
    added = evaluator.rows(evaluator.ask("suite", "list"))
    gone = {str(row["name"]) for row in added if row.get("state") == "gone"}  # says so itself
    for name in unknown:
        wanted = name.strip("/")
        inside = any(f"/{wanted}/" in f"/{one}" for one in known)
        if inside or wanted.partition("/")[0] in gone or evaluator.tasks(name):
            continue
        hint = nearest(name, [*known, *(one.rpartition("/")[0] for one in known)])
        raise WrongUsage(
            f"there is no file, folder, suite or task {name!r}.{hint} `pike tasks` lists them."
        )


def _lies_there(name: str) -> bool:
    try:
        return Path(name).expanduser().exists()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or nobody's home
        return False


def of_row(row: dict[str, Any]) -> NamedTask:
    """Return the task of a row that the evaluator listed.

    Raises:
        WrongUsage: its text cannot be read.
    """
    source = text(Path(row["path"]), 1_000_000)
    needs_cuda = any(need.get("kind") == "cuda" for need in evaluator.rows(row.get("needs")))
    return NamedTask(row["id"], row.get("title", ""), source, needs_cuda)
