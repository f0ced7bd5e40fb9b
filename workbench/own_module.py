"""A class of the user's own: its file found and read, never imported; what calls it needs.

```
pkg.mod:Block ─▶ Place: DIR/pkg/mod.py, or src/; None where it is installed ─▶ Origin: constructor, forward, source
```
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.errors import WrongUsage, nearest
from workbench.shown_source import Definition, definitions, file_of, parsed, shown
from workbench.task_files import text

_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, beside `self`."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    open_ended: bool = False
    """Whether it takes any number of more."""

    @property
    def all(self) -> tuple[str, ...]:
        """Return the names of all that it names."""
        return (*self.required, *self.optional)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a class or a function comes from, and what is known of it."""

    module: str
    name: str
    project: Path | None = None
    """The folder that tasks must read; None where the module is installed."""
    root: Path | None = None
    """The folder to import from: the project's, or its src."""
    names: frozenset[str] | None = None
    """What the module binds; None where its text is not at hand."""
    is_class: bool = True
    init: Signature | None = None
    forward: Signature | None = None
    shown: str = ""
    """Its source, and that of what it uses of the project."""


def located(reference: str, project: str, *, elsewhere: bool) -> Origin:
    """Return where `package.module:Class` comes from.

    Args:
        reference: as typed.
        project: the project's folder; empty: this one if the module is in it.
        elsewhere: whether another environment may have the module installed.

    Raises:
        WrongUsage: it is no reference, its module is nowhere, or the module does not have it.
    """
    if not _REFERENCE.fullmatch(reference):
        raise WrongUsage(
            f"{reference!r} names no class: write package.module:Class, as my_models.blocks:Block."
        )
    module, _, name = reference.partition(":")
    base = Path(os.path.realpath(Path(project or ".").expanduser()))
    if project and not base.is_dir():
        raise WrongUsage(f"there is no project folder {project}.")
    for root in (base, base / "src"):
        file = file_of(root, module)
        if file is not None:
            return _read(Origin(module, name, base, root), root, file)
    return _installed(module, name, project, elsewhere=elsewhere)


def _installed(module: str, name: str, project: str, *, elsewhere: bool) -> Origin:
    place = "/".join(module.split("."))
    if project:
        raise WrongUsage(f"there is no {place}.py in {project}, nor in its src: check the folder.")
    top = importlib.machinery.PathFinder.find_spec(module.partition(".")[0])
    if top is None and not elsewhere:
        raise WrongUsage(
            f"there is no {place}.py here, and no package {module.partition('.')[0]} is installed: "
            "give --project DIR, the folder that holds it."
        )
    return Origin(module, name)


def _read(origin: Origin, root: Path, file: Path) -> Origin:
    source = text(file, 1_000_000)
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise WrongUsage(f"{file} is not a Python file: {error}.") from error
    defined = definitions(tree)
    bound = frozenset(_bound(tree))
    if origin.name not in bound:
        raise WrongUsage(f"{file} has no {origin.name}.{nearest(origin.name, defined)}")
    kept = replace(origin, names=bound, shown=shown(root, origin.module, origin.name))
    match defined.get(origin.name):
        case ast.ClassDef() as node:
            return replace(kept, init=_method(node, "__init__"), forward=_method(node, "forward"))
        case ast.FunctionDef() as node:
            return replace(kept, is_class=False, init=_signature(node, bound_first=0))
        case ast.AsyncFunctionDef():
            raise WrongUsage(
                f"{origin.name} is an async function; a task needs a class or function."
            )
        case _:
            return kept


def _bound(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _method(node: ast.ClassDef, name: str) -> Signature | None:
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == name:
            return _signature(inner, bound_first=1)
    return None


def _signature(node: ast.FunctionDef, *, bound_first: int) -> Signature:
    arguments = node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][bound_first:]
    split = len(names) - len(arguments.defaults)
    pairs = list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    required = [*names[:split], *(a.arg for a, default in pairs if default is None)]
    optional = [*names[split:], *(a.arg for a, default in pairs if default is not None)]
    open_ended = arguments.vararg is not None or arguments.kwarg is not None
    return Signature(tuple(required), tuple(optional), open_ended)


def needed_names(expression: ast.expr) -> set[str]:
    """Return the names that an expression takes from its surroundings."""
    inner = ast.walk(expression)
    return {n.id for n in inner if isinstance(n, ast.Name)} - {*dir(builtins), "torch"}
