"""Attention written out step by step, found in a file and put as one fused call.

```
scores  = q @ k.transpose(-2, -1) * c          (or / c; torch.matmul, bmm)
scores  = scores.masked_fill(mask, -inf)       (or + mask; optional)
weights = softmax(scores, dim=-1)              (F., torch., method, nn.Softmax)
weights = self.dropout(weights)                (optional)
out     = weights @ v          ──▶  scaled_dot_product_attention(q, k, v, attn_mask=…, scale=…)
```
Steps may be one expression or several assignments of one block. What does not surely match is left alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sessions.models.attention_steps import Chain, assigned, call, peel, product
from sessions.models.python_source import Splice, parse, span, splice


@dataclass(frozen=True, slots=True)
class Fused:
    """One place to change: the expression to replace and the statements to drop."""

    product: ast.expr
    call: str
    dropped: tuple[ast.stmt, ...]


def has_attention(source: str) -> bool:
    """Tell whether the file holds attention that can be fused."""
    return fused(source) != source


def fused(source: str) -> str:
    """Return the file with every attention found as one fused call; unchanged if there is none."""
    tree = parse(source)
    changes: list[Splice] = []
    for place in _found(tree) if tree else []:
        lines = [_lines(source, statement) for statement in place.dropped]
        if None not in lines:
            changes.append(Splice(*span(source, place.product), place.call))
            changes += [Splice(*line, "") for line in lines if line]
    return splice(source, changes)


def _found(tree: ast.Module) -> list[Fused]:
    found: list[Fused] = []
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            fields = _fields(owner)
            for function in owner.body:
                if isinstance(function, ast.FunctionDef):
                    found += _in_function(function, fields)
    return found


def _fields(owner: ast.ClassDef) -> dict[str, ast.expr]:
    """Return what the constructor assigns to attributes of `self`."""
    return {
        target.attr: node.value
        for function in owner.body
        if isinstance(function, ast.FunctionDef) and function.name == "__init__"
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    }


def _in_function(function: ast.FunctionDef, fields: dict[str, ast.expr]) -> list[Fused]:
    found: list[Fused] = []
    for block in _blocks(function):
        for at, statement in enumerate(block):
            if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AnnAssign):
                found += _in_statement(function, block, at, fields)
    return found


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    return [
        body
        for node in ast.walk(function)
        for name in ("body", "orelse")
        if isinstance(body := getattr(node, name, None), list)
    ]


def _in_statement(
    function: ast.FunctionDef, block: list[ast.stmt], at: int, fields: dict[str, ast.expr]
) -> list[Fused]:
    for node in ast.walk(block[at]):
        factors = product(node)
        if factors is None or not isinstance(node, ast.expr):
            continue
        chain = Chain(block, at, fields)
        if peel(chain, *factors) and _safe(chain, function, node, at):
            dropped = tuple(block[index] for index in sorted(set(chain.removed)))
            return [Fused(node, call(chain), dropped)]
    return []


def _safe(chain: Chain, function: ast.FunctionDef, product: ast.expr, at: int) -> bool:
    """Tell whether nothing else needs the dropped steps, and what moves means the same later."""
    dropped = [chain.block[index] for index in set(chain.removed)]
    return _nowhere_else(function, dropped, product) and all(
        not (_loaded(expression) & assigned(chain.block[index]))
        for expression, start in chain.moved
        for index in range(start, at)
    )


def _nowhere_else(function: ast.FunctionDef, dropped: list[ast.stmt], product: ast.expr) -> bool:
    names = {name for statement in dropped for name in assigned(statement)}
    inside = [*dropped, product]
    known = {id(node) for part in inside for node in ast.walk(part)}
    return not any(
        isinstance(node, ast.Name)
        and node.id in names
        and isinstance(node.ctx, ast.Load)
        and id(node) not in known
        for node in ast.walk(function)
    )


def _loaded(expression: ast.expr) -> set[str]:
    return {
        node.id
        for node in ast.walk(expression)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _lines(source: str, statement: ast.stmt) -> tuple[int, int] | None:
    """Return a statement's whole lines, comment behind it included; None if it shares them."""
    start, end = span(source, statement)
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", end)
    line_end = len(source) if line_end < 0 else line_end + 1
    behind = source[end:line_end].strip()
    alone = not source[line_start:start].strip() and (not behind or behind.startswith("#"))
    return (line_start, line_end) if alone else None
