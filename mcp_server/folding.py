"""Values that a text fixes without being run: names bound to numbers and words, and arithmetic on them."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = 2**63
_OPERATORS: dict[type[ast.operator], Callable[[int | float, int | float], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Div: lambda left, right: left / right,
    ast.Mod: operator.mod,
}


def constants(tree: ast.Module) -> dict[str, object]:
    """Return what the names of a module's top level are bound to, where the text fixes it."""
    return bindings(tree.body, {})


def bindings(body: list[ast.stmt], known: dict[str, object]) -> dict[str, object]:
    """Return what is known after these statements; a name bound to anything else is unknown."""
    known = dict(known)
    for statement in body:
        match statement:
            case ast.Assign(targets=[target], value=value):
                _bind(target, value, known)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                _bind(target, value, known)
            case _:
                pass
    return known


def _bind(target: ast.expr, value: ast.expr, known: dict[str, object]) -> None:
    if isinstance(target, ast.Name):
        known[target.id] = fold(value, known)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its in zip(target.elts, value.elts, strict=False):
            _bind(one, its, known)


def fold(node: ast.expr, known: dict[str, object]) -> object:
    """Return the number, text or tuple that an expression is, else None."""
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.Name(id=name):
            return known.get(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            values = [fold(element, known) for element in elements]
            return None if None in values else tuple(values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = fold(operand, known)
            return -value if isinstance(value, int | float) else None
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, fold(left, known), fold(right, known))
        case _:
            return None


def _arithmetic(op: ast.operator, left: object, right: object) -> int | float | None:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return None
    if isinstance(op, ast.Pow):
        return (
            left**right
            if isinstance(right, int) and abs(left) <= 1024 and 0 <= right <= 6
            else None
        )
    apply = _OPERATORS.get(type(op))
    try:
        value = apply(left, right) if apply else None
    except (ArithmeticError, ValueError):
        return None
    return value if value is not None and abs(value) < _LARGEST else None
