"""What a candidate's text tells before anything runs: whether it can be one, and what a reader should look at.

Flags are advice for people and never decide: the process pair does that.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field

from mcp_server.contract import Status
from mcp_server.task_text import bound_names

_FLAGGED_IMPORTS = {
    "gc": "uses_gc",
    "inspect": "uses_frames",
    "threading": "uses_threads",
    "concurrent": "uses_threads",
    "multiprocessing": "starts_processes",
    "subprocess": "starts_processes",
    "socket": "uses_network",
    "pickle": "uses_pickle",
}
_FLAGGED_ATTRIBUTES = {
    "_getframe": "uses_frames",
    "data_ptr": "uses_addresses",
    "perf_counter": "reads_clock",
    "manual_seed": "sets_seed",
    "allow_tf32": "sets_precision",
    "set_float32_matmul_precision": "sets_precision",
    "set_num_threads": "sets_threads",
}


@dataclass(frozen=True, slots=True)
class Intake:
    """The result of reading a candidate's text."""

    sha256: str
    flags: tuple[str, ...] = ()
    status: Status | None = None
    """Set if it cannot be a candidate, with the two below."""
    code: str | None = None
    cause: str | None = None


@dataclass(slots=True)
class _Flags(ast.NodeVisitor):
    found: set[str] = field(default_factory=set[str])

    def visit_Import(self, node: ast.Import) -> None:
        self._imported([a.name for a in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imported([node.module or ""])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _FLAGGED_ATTRIBUTES:
            self.found.add(_FLAGGED_ATTRIBUTES[node.attr])
        if isinstance(node.ctx, ast.Store) and _root(node) in {"torch", "time", "builtins"}:
            self.found.add("patches_modules")
        self.generic_visit(node)

    def _imported(self, names: list[str]) -> None:
        roots = {name.split(".")[0] for name in names}
        self.found |= {_FLAGGED_IMPORTS[r] for r in roots if r in _FLAGGED_IMPORTS}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def read(source: str) -> Intake:
    """Return what the text of a candidate tells."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        cause = f"Line {error.lineno}: {error.msg}."
        return Intake(digest, (), Status.COMPILE_ERROR, "syntax", cause)
    except (ValueError, RecursionError, MemoryError):
        return Intake(digest, (), Status.COMPILE_ERROR, "syntax", "The file cannot be parsed.")
    if "ModelNew" not in bound_names(tree):
        cause = "The file defines no class ModelNew."
        return Intake(digest, (), Status.COMPILE_ERROR, "no_model_new", cause)
    flags = _Flags()
    flags.visit(tree)
    return Intake(digest, tuple(sorted(flags.found)))
