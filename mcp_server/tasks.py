"""KernelBench-format tasks by id: the starter suite, and files that people added.

`starter/NAME` ships with the product; `local/STEM-SHA8` is a file kept in the state folder's `tasks/`. Finding them
reads names only; a task's file is read when it is asked for, and executed in a sandbox, never here.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from mcp_server.errors import NotATask, StateUnusable, UnknownTask

STARTER = Path(__file__).parent / "starter"
_SIZE_LIMIT = 1_000_000
_AGENT_MARK = ".agent"
_NEEDED = ("Model", "get_inputs", "get_init_inputs")


@dataclass(frozen=True, slots=True)
class Task:
    """A module to speed up."""

    id: str
    title: str
    source: str
    path: Path
    by_agent: bool = False
    """Whether an agent added it; people are trusted."""

    @property
    def sha256(self) -> str:
        """Return the digest of the file: what makes two machines' tasks the same."""
        return hashlib.sha256(self.source.encode()).hexdigest()


class Tasks:
    """The tasks of one state folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "tasks"

    def ids(self) -> list[str]:
        """Return every id, starter tasks first."""
        found = [f"starter/{p.stem}" for p in sorted(STARTER.glob("*.py"))]
        return found + [f"local/{p.stem}" for p in sorted(self.folder.glob("*.py"))]

    def get(self, task_id: str) -> Task:
        """Return the task of an id; a prefix of its name will do if it is the only one.

        Raises:
            UnknownTask: there is none, or several begin so.
        """
        exact = [i for i in self.ids() if i == task_id]
        matching = exact or [i for i in self.ids() if i.startswith(task_id) and "/" in task_id]
        if len(matching) != 1:
            raise UnknownTask(_unknown(task_id, matching))
        return self._read(matching[0])

    def add(self, path: Path) -> Task:
        """Keep a copy of a person's file as `local/STEM-SHA8` and return it.

        Raises:
            NotATask: it cannot be read, or is not in KernelBench format.
            StateUnusable: the state folder cannot be written.
        """
        source = _text(path)
        check(source, path.name)
        digest = hashlib.sha256(source.encode()).hexdigest()[:8]
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-.")[:60] or "task"
        kept = self.folder / f"{stem}-{digest}.py"
        _write(kept, source)
        return self._read(f"local/{kept.stem}")

    def find(self, name: str) -> Task:
        """Return the task of an id, or of a file's path, which is then kept.

        Raises:
            UnknownTask: it is neither.
            NotATask: the file is not in KernelBench format.
        """
        path = Path(name).expanduser()
        if path.is_file() or (name.endswith(".py") and name not in self.ids()):
            return self.add(path)
        return self.get(name)

    def _read(self, task_id: str) -> Task:
        suite, _, name = task_id.partition("/")
        folder = STARTER if suite == "starter" else self.folder
        path = folder / f"{name}.py"
        source = _text(path)
        marked = path.with_suffix(_AGENT_MARK).exists()
        return Task(task_id, _title(source, name), source, path, by_agent=marked)


def check(source: str, name: str) -> None:
    """Refuse what is not in KernelBench format, without executing it.

    Raises:
        NotATask: and why.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        where = f", line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else ""
        raise NotATask(
            f"{name} is not a Python file{where}: give a KernelBench-format file."
        ) from error
    bound = bound_names(tree)
    for needed in _NEEDED:
        if needed not in bound:
            kind = "class" if needed == "Model" else "function"
            raise NotATask(
                f"{name} has no {kind} {needed}: a KernelBench-format file defines class Model, "
                "get_inputs() and get_init_inputs()."
            )


def bound_names(tree: ast.Module) -> set[str]:
    """Return the names that a module binds at its top level, conditional ones included."""
    names: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(a.asname or a.name).split(".")[0] for a in node.names}
        else:
            pending += ast.iter_child_nodes(node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            raise NotATask(f"{path.name} is larger than {_SIZE_LIMIT} bytes: is it a task's file?")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnknownTask(f"There is no file {path}: check the path, or list tasks.") from None
    except UnicodeDecodeError:
        raise NotATask(f"{path.name} is not a Python file: it is not UTF-8 text.") from None
    except OSError as error:
        raise NotATask(f"{path} cannot be read ({error.strerror}): check its rights.") from error


def _write(path: Path, text: str) -> None:
    if path.exists():
        return
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise StateUnusable(
            f"{path.parent} cannot be written ({error.strerror}): set PIKE_HOME to a folder of yours."
        ) from error


def _title(source: str, name: str) -> str:
    try:
        said = ast.get_docstring(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        said = None
    return said.splitlines()[0].strip()[:120] if said else name.replace("_", " ")


def _unknown(task_id: str, matching: list[str]) -> str:
    if matching:
        return f"{task_id!r} could be {', '.join(matching[:5])}: give the whole id."
    return f"There is no task {task_id!r}: call list_tasks for the ids."
