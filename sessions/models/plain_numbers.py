"""Which expressions are surely plain numbers, no tensors: what a fused call may take as its scale."""

from __future__ import annotations

import ast


def is_number(expression: ast.expr, before: list[ast.stmt], fields: dict[str, ast.expr]) -> bool:
    """Tell whether an expression is surely a number, given the statements before it.

    `fields`: what the constructor assigned to attributes of `self`.
    """
    known = _names(before, fields)
    return _is_number(expression, known, fields)


def _names(before: list[ast.stmt], fields: dict[str, ast.expr]) -> set[str]:
    """Return the names that hold numbers after these statements."""
    known: set[str] = set()
    for statement in before:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value) if _is_shape(value):
                known |= {one.id for one in elements if isinstance(one, ast.Name)}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_number(
                value, known, fields
            ):
                known.add(name)
            case _:
                known -= _bound(statement)
    return known


def _bound(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def _is_shape(value: ast.expr) -> bool:
    return ast.unparse(value).endswith((".shape", ".size()"))


def _is_number(expression: ast.expr, known: set[str], fields: dict[str, ast.expr]) -> bool:
    match expression:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=part):
            return _is_number(part, known, fields)
        case ast.BinOp(left=left, right=right):
            return _is_number(left, known, fields) and _is_number(right, known, fields)
        case ast.Name(id=name):
            return name in known
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in fields and _is_plain(fields[name])
        case _:
            return _is_read(expression)


def _is_read(expression: ast.expr) -> bool:
    """Tell whether a number is computed by `math`, or read from a shape."""
    match expression:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return True
        case ast.Call(func=ast.Name(id="float" | "int")):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index):
            return not isinstance(index, ast.Slice)
        case _:
            return False


def _is_plain(made: ast.expr) -> bool:
    """Tell whether a constructor's value is made of its arguments and numbers alone."""
    return all(_is_plain_part(node) for node in ast.walk(made))


def _is_plain_part(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return True
        case ast.Attribute(value=ast.Name(id="self" | "math")):
            return True
        case ast.BinOp() | ast.UnaryOp() | ast.Constant() | ast.Name():
            return True
        case ast.operator() | ast.unaryop() | ast.expr_context():
            return True
        case _:
            return False
