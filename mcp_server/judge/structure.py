# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Whether an answer has the structure, shapes, dtypes and device of the original's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_server.judge.faults import rejected, wrong
from mcp_server.judge.inputs import stored_bytes
from mcp_server.worker.program import aligned

if TYPE_CHECKING:
    from torch import Tensor

    from mcp_server.judge.reference import Answer
    from mcp_server.judge.worker_link import Fetched


def decode(fetched: Fetched, like: Answer, device: str) -> list[Tensor]:
    """Return the answer's tensors on the CPU, once structure, dtypes and shapes are those of the reference.

    Raises:
        Fault: they are not, or the answer is no ordinary tensor.
    """
    for leaf in fetched.leaves:
        if leaf.get("plain") is not True:
            raise rejected(
                "deferred_tensor", "The answer holds a tensor subclass, not a plain tensor."
            )
    if not _same(fetched.tree, like.tree):
        raise wrong("structure", f"The answer's structure differs: {_difference(fetched, like)}.")
    if len(fetched.leaves) != len(like.leaves):
        raise wrong("structure", "The answer has another number of tensors.")
    paths = paths_of(like.tree)
    for path, leaf, want in zip(paths, fetched.leaves, like.leaves, strict=True):
        _check_leaf(path, leaf, want, device)
    return _tensors(fetched, like)


def _check_leaf(path: str, leaf: dict[str, Any], want: Tensor, device: str) -> None:
    dtype, shape = str(want.dtype).removeprefix("torch."), list(want.shape)
    where = path or "the output"
    if leaf.get("shape") != shape:
        raise wrong("shape", f"{where} has shape {leaf.get('shape')}, not {shape}.")
    if leaf.get("dtype") != dtype:
        raise wrong("dtype", f"{where} has dtype {leaf.get('dtype')}, not {dtype}.")
    if leaf.get("device") != device.split(":")[0]:
        raise wrong("device", f"{where} is on {leaf.get('device')}, not on {device}.")


def _tensors(fetched: Fetched, like: Answer) -> list[Tensor]:
    found: list[Tensor] = []
    at = 0
    for want in like.leaves:
        size = want.numel() * want.element_size()
        piece = fetched.data[at : at + size]
        if piece.numel() != size:
            raise rejected("protocol", "The worker delivered fewer bytes than its answer has.")
        found.append(piece.view(want.dtype).view(want.shape))
        at += aligned(size)
    return found


def answer_bytes(like: Answer) -> int:
    """Return what such an answer takes in an arena, its description apart."""
    return stored_bytes(like.leaves)


def _same(got: object, want: object) -> bool:
    """Return whether two trees are equal; numbers in place of tensors within fp32's rounding."""
    if not isinstance(got, dict) or not isinstance(want, dict) or got.get("k") != want.get("k"):
        return False
    if want["k"] in ("tensor", "other", "dtype"):
        return True
    mine, theirs = got.get("v"), want["v"]
    if want["k"] in ("list", "tuple"):
        return _same_rows(mine, theirs)
    if want["k"] == "dict":
        keys = isinstance(mine, list) and [row[0] for row in mine] == [row[0] for row in theirs]
        return keys and _same_rows([row[1] for row in mine or []], [row[1] for row in theirs])
    if isinstance(theirs, float) and isinstance(mine, int | float):
        return abs(mine - theirs) <= 1e-4 * abs(theirs) + 1e-6 or (
            mine != mine and theirs != theirs
        )
    return mine == theirs and type(mine) is type(theirs)


def _same_rows(mine: object, theirs: list[Any]) -> bool:
    if not isinstance(mine, list) or len(mine) != len(theirs):
        return False
    return all(_same(a, b) for a, b in zip(mine, theirs, strict=True))


def _difference(fetched: Fetched, like: Answer) -> str:
    return f"{outline(fetched.tree)} in place of {outline(like.tree)}"


def outline(tree: object, depth: int = 0) -> str:
    """Return a structure in a few words, for a sentence."""
    if not isinstance(tree, dict) or depth > 3:
        return "…"
    items = tree.get("v")
    match tree.get("k"):
        case "tensor":
            return "tensor"
        case "list" | "tuple" if isinstance(items, list):
            inner = ", ".join(outline(item, depth + 1) for item in items[:6])
            return f"{tree['k']}({inner})"
        case "dict" if isinstance(items, list):
            return "dict(" + ", ".join(str(row[0])[:20] for row in items[:6]) + ")"
        case "value":
            return "None" if items is None else type(items).__name__
        case _:
            return "another object"


def paths_of(tree: dict[str, Any], prefix: str = "") -> list[str]:
    """Return the path of each tensor in the structure, in order; the empty path for a lone tensor."""
    match tree["k"]:
        case "tensor":
            return [prefix]
        case "list" | "tuple":
            rows = [(f"[{i}]", item) for i, item in enumerate(tree["v"])]
        case "dict":
            rows = [(f"[{key!r}]", item) for key, item in tree["v"]]
        case _:
            return []
    return [path for key, item in rows for path in paths_of(item, prefix + key)]
