"""What a text is as Python, without running it."""

from __future__ import annotations

import ast
import re
import warnings


def parses(source: str) -> bool:
    """Return whether Python can parse the text. Never raises."""
    return _tree(source) is not None


def defines(source: str, name: str = "ModelNew") -> bool:
    """Return whether the file gives `name` a meaning at its top level. Never raises.

    A file that Python cannot parse is searched for the line that opens the class.
    """
    tree = _tree(source)
    if tree is None:
        return bool(re.search(rf"^class\s+{re.escape(name)}\b", source, re.MULTILINE))
    return any(name in _names(statement) for statement in tree.body)


def _names(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.If() | ast.Try():
            return {name for inner in ast.walk(statement) for name in _class_name(inner)}
        case _:
            return set()


def _class_name(node: ast.AST) -> set[str]:
    return {node.name} if isinstance(node, ast.ClassDef) else set()


def _tree(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
