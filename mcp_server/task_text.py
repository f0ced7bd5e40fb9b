"""The text of a task: read, parsed and checked for KernelBench's format, never executed."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from mcp_server.errors import NotATask, UnknownTask

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = ("Model", "get_inputs", "get_init_inputs")
_SIZE_LIMIT = 1_000_000


def read(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UnknownTask: there is no such file.
        NotATask: it cannot be read, is too large, or is not UTF-8.
    """
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


def check(source: str, name: str) -> None:
    """Refuse what is not in KernelBench format.

    Raises:
        NotATask: and why.
    """
    refused = missing(bound_names(parsed(source, name)), name)
    if refused:
        raise NotATask(refused)


def parsed(source: str, name: str) -> ast.Module:
    """Return the tree of a text.

    Raises:
        NotATask: it is not Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's escapes
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else ""
        raise NotATask(
            f"{name} is not a Python file{where}: give a KernelBench-format file."
        ) from error


def missing(bound: set[str], name: str) -> str:
    """Return what a file that binds these names lacks, in a sentence; empty if nothing."""
    for needed in NEEDED:
        if needed not in bound:
            kind = "class" if needed == "Model" else "function"
            return (
                f"{name} has no {kind} {needed}: a KernelBench-format file defines class Model, "
                "get_inputs() and get_init_inputs()."
            )
    return ""


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


def title(tree: ast.Module, name: str) -> str:
    """Return the first line of a module's docstring, else its file's name in words."""
    said = ast.get_docstring(tree)
    return said.splitlines()[0].strip()[:120] if said else plain_title(name)


def plain_title(name: str) -> str:
    """Return a file's name in words."""
    return name.replace("_", " ")
