"""One attention, taken apart step by step, from its last product back to its first."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from sessions.models.plain_numbers import is_number

CALL = "torch.nn.functional.scaled_dot_product_attention"


@dataclass(slots=True)
class Chain:
    """What was peeled off on the way from the last product to the first."""

    block: list[ast.stmt]
    at: int
    """The statement reached so far."""
    fields: dict[str, ast.expr]
    """What `__init__` assigned to `self`."""
    removed: list[int] = field(default_factory=list[int])
    """Statements whose whole work the fused call does."""
    moved: list[tuple[ast.expr, int]] = field(default_factory=list[tuple[ast.expr, int]])
    """Expressions that the call evaluates later than the file did, and where they stood."""
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    scales: list[str] = field(default_factory=list[str])


def call(chain: Chain) -> str:
    """Return the text of the fused call that does the chain's work."""
    scale = " ".join(chain.scales)
    scale = scale.removeprefix("* ") if scale.startswith("*") else f"1.0 {scale}".strip()
    given = {**chain.arguments, "scale": scale}
    first = [given.pop(name) for name in ("query", "key", "value")]
    return f"{CALL}({', '.join([*first, *(f'{name}={text}' for name, text in given.items())])})"


def product(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return the factors, if the node is a matrix product."""
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return left, right
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch"), attr="matmul" | "bmm"),
            args=[left, right],
            keywords=[],
        ):
            return left, right
        case ast.Call(
            func=ast.Attribute(value=left, attr="matmul" | "bmm"), args=[right], keywords=[]
        ):
            return left, right
        case _:
            return None


def peel(chain: Chain, weights: ast.expr, value: ast.expr) -> bool:
    """Walk back from `weights @ value`; fill the chain; tell whether all of it was understood."""
    chain.arguments["value"] = ast.unparse(value)
    probabilities = _without_dropout(chain, resolved(chain, weights))
    scores = _softmax_of(chain, probabilities)
    if scores is None:
        return False
    scores = _without_mask(chain, resolved(chain, scores))
    scores = _without_scale(chain, resolved(chain, scores))
    first = product(scores)
    if first is None:
        return False
    query, key = first
    chain.moved += [(query, chain.at), (key, chain.at)]
    chain.arguments |= {"query": ast.unparse(query), "key": _transposed(key)}
    return True


def resolved(chain: Chain, expression: ast.expr) -> ast.expr:
    """Return what a name stands for, if the block assigned it; the chain moves there."""
    while isinstance(expression, ast.Name):
        for index in range(chain.at - 1, -1, -1):
            if expression.id in assigned(chain.block[index]):
                break
        else:
            return expression
        match chain.block[index]:
            case ast.Assign(targets=[ast.Name()], value=value):
                chain.at = index
                chain.removed.append(index)
                expression = value
            case _:
                return expression
    return expression


def _without_dropout(chain: Chain, expression: ast.expr) -> ast.expr:
    match expression:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="self"), attr=name) as layer,
            args=[inner],
            keywords=[],
        ) if _is_layer(chain, name, "Dropout"):
            text = ast.unparse(layer)
            chain.arguments["dropout_p"] = f"{text}.p if {text}.training else 0.0"
            return resolved(chain, inner)
        case _:
            return expression


def _is_layer(chain: Chain, name: str, kind: str) -> bool:
    made = chain.fields.get(name)
    return isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] == kind


def _softmax_of(chain: Chain, expression: ast.expr) -> ast.expr | None:
    """Return the scores, if the expression is their softmax over the last dimension."""
    match expression:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[scores], keywords=[]
        ) if _is_layer(chain, name, "Softmax"):
            made = chain.fields[name]
            return scores if isinstance(made, ast.Call) and _over_last(made, 0) else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="F" | "torch"), attr="softmax"),
            args=[scores, *_],
        ) if _over_last(expression, 1):
            return scores
        case ast.Call(func=ast.Attribute(value=owner, attr="softmax"), args=[scores, *_]) if (
            ast.unparse(owner) in ("nn.functional", "torch.nn.functional")
            and _over_last(expression, 1)
        ):
            return scores
        case ast.Call(func=ast.Attribute(value=scores, attr="softmax")) if (
            not isinstance(scores, ast.Name) or scores.id not in ("F", "torch", "nn")
        ) and _over_last(expression, 0):
            return scores
        case _:
            return None


def _over_last(call: ast.Call, place: int) -> bool:
    """Tell whether the call's only further argument is dimension -1."""
    given = [*call.args[place:], *(word.value for word in call.keywords if word.arg == "dim")]
    return [ast.unparse(one) for one in given] == ["-1"] and all(
        word.arg == "dim" for word in call.keywords
    )


def _without_mask(chain: Chain, expression: ast.expr) -> ast.expr:
    match expression:
        case ast.Call(
            func=ast.Attribute(value=scores, attr="masked_fill"), args=[mask, fill], keywords=[]
        ) if _hugely_negative(fill):
            chain.arguments["attn_mask"] = f"torch.logical_not({ast.unparse(mask)})"
        case ast.BinOp(left=scores, op=ast.Add(), right=mask):
            chain.arguments["attn_mask"] = ast.unparse(mask)
        case _:
            return expression
    chain.moved.append((mask, chain.at))
    return scores


def _hugely_negative(fill: ast.expr) -> bool:
    text = ast.unparse(fill).replace('"', "'").replace(" ", "")
    if text in ("float('-inf')", "-float('inf')", "-math.inf", "-torch.inf", "-np.inf"):
        return True
    try:
        return float(text) <= -1e9
    except ValueError:
        return False


def _without_scale(chain: Chain, expression: ast.expr) -> ast.expr:
    while isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult | ast.Div):
        if not is_number(expression.right, chain.block[: chain.at], chain.fields):
            break
        sign = "*" if isinstance(expression.op, ast.Mult) else "/"
        chain.scales.insert(0, f"{sign} ({ast.unparse(expression.right)})")
        chain.moved.append((expression.right, chain.at))
        expression = resolved(chain, expression.left)
    return expression


def _transposed(key: ast.expr) -> str:
    """Return the text of `key` with its last two dimensions swapped back."""
    match key:
        case ast.Call(func=ast.Attribute(value=inner, attr="transpose"), args=[one, other]) if {
            ast.unparse(one),
            ast.unparse(other),
        } == {"-1", "-2"}:
            return ast.unparse(inner)
        case ast.Attribute(value=inner, attr="mT"):
            return ast.unparse(inner)
        case _:
            return f"({ast.unparse(key)}).transpose(-2, -1)"


def assigned(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
