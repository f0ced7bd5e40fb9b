"""The tasks that an experiment names: ids, suites, files and globs of either, each once, in the order written."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from workbench import evaluator, task_files
from workbench.errors import WrongUsage, nearest

_MAGIC = "*?["


def expand(entries: tuple[str, ...], beside: Path) -> tuple[str, ...]:
    """Return the ids of all tasks meant; files are sought beside the experiment's file, and registered.

    Raises:
        WrongUsage: an entry means nothing; the message begins with it.
    """
    known = {str(row["id"]) for row in evaluator.tasks()}
    found: dict[str, None] = {}
    for entry in entries:
        found |= dict.fromkeys(_meant(entry, sorted(known), beside))
    return tuple(found)


def _meant(entry: str, known: list[str], beside: Path) -> list[str]:
    if entry in known:
        return [entry]
    suite = [task for task in known if task.startswith(f"{entry.rstrip('/')}/")]
    if suite:
        return suite
    files = _files(entry, beside)
    if files:
        return [task_files.find(str(path)).id for path in files]
    globbed = [task for task in known if fnmatchcase(task, entry)]
    if globbed:
        return globbed
    begun = [task for task in known if task.startswith(entry)]
    if len(begun) == 1:
        return begun
    suites = {task.rpartition("/")[0] for task in known}
    hint = nearest(entry, [*known, *suites])
    raise WrongUsage(f"{entry!r} is no task, no suite and no file.{hint} `pike tasks` lists them.")


def _files(entry: str, beside: Path) -> list[Path]:
    path = (beside / entry).expanduser()
    if not any(sign in entry for sign in _MAGIC):
        return [path] if path.is_file() else []
    base = Path(path.absolute().anchor)
    try:
        found = sorted(base.glob(str(path.absolute().relative_to(base))))
    except ValueError as error:
        raise WrongUsage(f"{entry!r} is no pattern: {error}.") from error
    return [path for path in found if path.suffix == ".py" and path.is_file()]
