"""The source of a definition and of all of its project that it uses, for whoever reads a task without the project."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_MOST_CHARACTERS = 60_000


@dataclass(slots=True)
class _Module:
    """A file of the project, read."""

    name: str
    lines: list[str]
    defined: dict[str, Definition]
    imported: dict[str, tuple[str, str]]
    """By the name it has here: the module and its name there."""
    wanted: set[str] = field(default_factory=set[str])


def shown(root: Path, module: str, name: str) -> str:
    """Return the source, module by module, each headed by its name; empty if there is none to be read.

    Args:
        root: the folder that the project is imported from.
        module: the dotted name of the module that binds the definition.
        name: of the definition.
    """
    read: dict[str, _Module | None] = {}
    pending = [(module, name)]
    while pending:
        where, what = pending.pop()
        if where not in read:
            read[where] = _read(root, where)
        here = read[where]
        if here is None or what in here.wanted:
            continue
        here.wanted.add(what)
        if what in here.imported:
            pending.append(here.imported[what])
        elif what in here.defined:
            pending += [(where, used) for used in _used(here.defined[what])]
    return "\n\n".join(text for m in read.values() if m and (text := _text(m)))[:_MOST_CHARACTERS]


def file_of(root: Path, module: str) -> Path | None:
    """Return the file of a module under a folder, None where there is none."""
    path = root.joinpath(*module.split("."))
    found = (path.with_name(f"{path.name}.py"), path / "__init__.py")
    return next((file for file in found if file.is_file()), None)


def parsed(source: str) -> ast.Module:
    """Return the tree of a text, without its warnings.

    Raises:
        SyntaxError: it is not Python; ValueError and RecursionError likewise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def definitions(tree: ast.Module) -> dict[str, Definition]:
    """Return the classes and functions of a module's top level by name."""
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def _read(root: Path, module: str) -> _Module | None:
    file = file_of(root, module)
    try:
        source = file.read_text(encoding="utf-8") if file else ""
        tree = parsed(source)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    package = module if file and file.name == "__init__.py" else module.rpartition(".")[0]
    imported = _imported(tree, package)
    return _Module(module, source.splitlines(), definitions(tree), imported) if file else None


def _imported(tree: ast.Module, package: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            parts = [*(above if node.level else []), *([node.module] if node.module else [])]
            for alias in node.names:
                found[alias.asname or alias.name] = (".".join(parts), alias.name)
    return found


def _used(node: Definition) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _text(module: _Module) -> str:
    nodes = [node for name, node in module.defined.items() if name in module.wanted]
    if not nodes:
        return ""
    parts = ["\n".join(module.lines[_first(node) : node.end_lineno]) for node in nodes]
    return "\n\n".join([f"--- {module.name}", *parts])


def _first(node: Definition) -> int:
    """Return the index of a definition's first line, decorators included."""
    return min(n.lineno for n in (node, *node.decorator_list)) - 1
