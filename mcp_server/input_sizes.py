"""How large a task's inputs are at least, told by the text of `get_inputs`; nothing is run."""

from __future__ import annotations

import ast
from math import prod
from typing import cast

from mcp_server.folding import bindings, fold

_FILLED = frozenset({"rand", "randn", "zeros", "ones", "empty"})
_BYTES = {
    "float64": 8, "double": 8, "int64": 8, "long": 8, "float32": 4, "float": 4, "int32": 4, "int": 4,
    "float16": 2, "half": 2, "bfloat16": 2, "int16": 2, "short": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip


def at_least(tree: ast.Module, known: dict[str, object]) -> int:
    """Return the bytes of one set of inputs, as far as the text fixes them; 0 where it fixes nothing.

    Args:
        tree: a task's text.
        known: what its top level fixes.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            inner = bindings(node.body, known)
            return sum(_bytes(call, inner) for call in ast.walk(node) if isinstance(call, ast.Call))
    return 0


def _bytes(call: ast.Call, known: dict[str, object]) -> int:
    func = call.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return 0
    if func.value.id != "torch":
        return 0
    shape = _shape(func.attr, call, known)
    return prod(shape) * _width(func.attr, call) if shape else 0


def _shape(name: str, call: ast.Call, known: dict[str, object]) -> tuple[int, ...]:
    named = [word.value for word in call.keywords if word.arg == "size"]
    if name in ("randint", "full"):
        sizes = named or [a for a in call.args if isinstance(fold(a, known), tuple)]
    elif name in _FILLED:
        sizes = named or call.args
    else:
        return ()
    values = [fold(size, known) for size in sizes]
    alone = len(values) == 1 and isinstance(values[0], tuple)
    dims = cast("tuple[object, ...]", values[0]) if alone else tuple(values)
    return tuple(d for d in dims if isinstance(d, int)) if _all_positive(dims) else ()


def _all_positive(dims: tuple[object, ...]) -> bool:
    return all(isinstance(d, int) and d > 0 for d in dims)


def _width(name: str, call: ast.Call) -> int:
    for word in call.keywords:
        if word.arg == "dtype" and isinstance(word.value, ast.Attribute):
            return _BYTES.get(word.value.attr, 1)
    return 8 if name == "randint" else 4
