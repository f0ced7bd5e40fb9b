"""The rules of the offline model: what each does, and which apply to a file.

| rule | applies when |
| --- | --- |
| torch.compile: default, reduce-overhead, max-autotune | a compiler is present |
| TF32 matrix products | GPU, policy `tf32` or `half`, and there are products |
| channels_last | 2-d or 3-d convolutions |
| half precision inside, original dtype outside | the policy is `half`, and there are products |
| CUDA graph | GPU, no branch on values |
| fused `scaled_dot_product_attention` | softmax of a scaled product, times a value |
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sessions.models.attention import has_attention
from sessions.models.python_source import names_used, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.protocol import Context


class Rule(StrEnum):
    """One mechanical change; the value stands in a candidate's `# rules:` line."""

    COMPILE = "compile"
    COMPILE_OVERHEAD = "compile-reduce-overhead"
    COMPILE_AUTOTUNE = "compile-max-autotune"
    BF16 = "bf16"
    FP16 = "fp16"
    TF32 = "tf32"
    FUSED_ATTENTION = "fused-attention"
    CHANNELS_LAST = "channels-last"
    CUDA_GRAPH = "cuda-graph"


COMPILES = (Rule.COMPILE, Rule.COMPILE_AUTOTUNE, Rule.COMPILE_OVERHEAD)
HALVES = (Rule.BF16, Rule.FP16)

SAYS = {
    Rule.COMPILE: "torch.compile, default mode",
    Rule.COMPILE_OVERHEAD: "torch.compile, mode reduce-overhead",
    Rule.COMPILE_AUTOTUNE: "torch.compile, mode max-autotune",
    Rule.BF16: "bfloat16 inside, the original dtype outside",
    Rule.FP16: "float16 inside, the original dtype outside",
    Rule.TF32: "TF32 matrix products",
    Rule.FUSED_ATTENTION: "fused scaled_dot_product_attention",
    Rule.CHANNELS_LAST: "channels_last memory format for convolutions",
    Rule.CUDA_GRAPH: "the forward pass as one CUDA graph",
}
"""How a rule is told to people; an idea that holds these words is that rule."""

WHY = {
    Rule.COMPILE: "fuses elementwise steps and reductions into few kernels",
    Rule.COMPILE_OVERHEAD: "fuses, and cuts the cost of launching kernels",
    Rule.COMPILE_AUTOTUNE: "fuses, and measures several kernels for each product",
    Rule.BF16: "halves the traffic and uses the fast matrix units",
    Rule.FP16: "halves the traffic, with more mantissa than bfloat16",
    Rule.TF32: "uses the matrix units with float32 storage",
    Rule.FUSED_ATTENTION: "never writes the matrix of scores to memory",
    Rule.CHANNELS_LAST: "is the layout that convolution kernels want",
    Rule.CUDA_GRAPH: "launches everything at once",
}

_USUAL_GAIN = {
    "cuda": (
        Rule.BF16,
        Rule.COMPILE_AUTOTUNE,
        Rule.FUSED_ATTENTION,
        Rule.COMPILE,
        Rule.TF32,
        Rule.COMPILE_OVERHEAD,
        Rule.CUDA_GRAPH,
        Rule.FP16,
        Rule.CHANNELS_LAST,
    ),
    "cpu": (
        Rule.COMPILE,
        Rule.FUSED_ATTENTION,
        Rule.BF16,
        Rule.CHANNELS_LAST,
        Rule.COMPILE_AUTOTUNE,
        Rule.COMPILE_OVERHEAD,
    ),
}

_CPU_COMPILERS = {"extern-c", "load-inline", "stable-abi", "torch-library"}
_PRODUCTS = re.compile(
    r"Linear|Bilinear|linear|Conv(Transpose)?[123]d|conv(_transpose)?[123]d|matmul|bmm|mm|addmm|baddbmm"
    r"|einsum|tensordot|mv|LSTM|GRU|RNN|MultiheadAttention|Transformer\w*|scaled_dot_product_attention"
)
_CONVOLUTIONS = re.compile(r"Conv(Transpose)?[23]d|conv(_transpose)?[23]d")
_FIXED_DTYPE = re.compile(r"half|float16|bfloat16|float64|double|complex\w*|autocast|quantize\w*")
_STORING = re.compile(r"(index_(add|copy|put)|scatter\w*|masked_scatter|copy|baddbmm|addmm)_")
_NEEDS_VALUES = re.compile(
    r"item|tolist|numpy|cpu|nonzero|unique\w*|masked_select|bincount|multinomial|rand\w*|normal_?|uniform_?"
    r"|bernoulli_?|manual_seed"
)


_NOT_RUN = ("__init__", "get_inputs", "get_init_inputs")


@dataclass(frozen=True, slots=True)
class _File:
    source: str
    tree: ast.Module
    used: set[str]
    """Names anywhere in the file."""
    running: set[str]
    """Names in what a forward pass may run."""


def applicable(source: str, context: Context) -> list[Rule]:
    """Return the rules that apply to a file on this context's device, by usual gain."""
    tree = parse(source)
    if tree is None:
        return []
    file = _File(source, tree, names_used(tree), names_used(_running(tree)))
    return [rule for rule in _USUAL_GAIN[_device(context)] if _fits(rule, file, context)]


def together(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules, newest last, without those that a later one of the same kind replaces."""
    kept: list[Rule] = []
    for rule in rules:
        kept = [other for other in kept if not _excludes(rule, other)]
        kept.append(rule)
    return tuple(kept)


def _device(context: Context) -> str:
    return "cuda" if context.device.startswith("cuda") else "cpu"


def _excludes(rule: Rule, other: Rule) -> bool:
    """Tell whether two rules cannot both hold: two modes, or a graph within a graph."""
    graphs = {rule, other} - {Rule.COMPILE_OVERHEAD, Rule.COMPILE_AUTOTUNE} == {Rule.CUDA_GRAPH}
    return graphs or any(rule in kind and other in kind for kind in (COMPILES, HALVES))


def _fits(rule: Rule, file: _File, context: Context) -> bool:
    match rule:
        case Rule.COMPILE | Rule.COMPILE_OVERHEAD | Rule.COMPILE_AUTOTUNE:
            return _has_compiler(context) and "compile" not in file.used
        case Rule.BF16 | Rule.FP16:
            allowed = context.precision == "half" and not _any(_FIXED_DTYPE, file.used)
            return allowed and _has_products(file) and not _writes_into_tensors(file)
        case Rule.TF32:
            return context.precision in ("tf32", "half") and _has_products(file)
        case Rule.FUSED_ATTENTION:
            return has_attention(file.source)
        case Rule.CHANNELS_LAST:
            return _any(_CONVOLUTIONS, file.used)
        case Rule.CUDA_GRAPH:
            return not _any(_NEEDS_VALUES, file.running) and not _branches_on_values(file.tree)


def _any(pattern: re.Pattern[str], names: set[str]) -> bool:
    return any(pattern.fullmatch(name) for name in names)


def _has_compiler(context: Context) -> bool:
    offered = {language.name for language in context.languages}
    return "triton" in offered if _device(context) == "cuda" else bool(offered & _CPU_COMPILERS)


def _has_products(file: _File) -> bool:
    product = any(isinstance(node, ast.MatMult) for node in ast.walk(file.tree))
    return product or _any(_PRODUCTS, file.used)


def _writes_into_tensors(file: _File) -> bool:
    """Tell whether a forward pass may store a half-precision value in a float32 tensor."""
    stores = any(
        isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        for function in _functions(file.tree)
        for node in ast.walk(function)
    )
    return stores or _any(_STORING, file.running)


def _running(tree: ast.Module) -> ast.Module:
    """Return the functions that a forward pass may run: no constructors, no `get_inputs`."""
    return ast.Module([*_functions(tree)], [])


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name not in _NOT_RUN
    ]


def _branches_on_values(tree: ast.Module) -> bool:
    """Tell whether a forward pass may branch on a tensor's values, as far as its text shows."""
    return any(
        isinstance(node, ast.If | ast.While | ast.IfExp) and not _plain_test(node.test)
        for function in _functions(tree)
        for node in ast.walk(function)
    )


def _plain_test(test: ast.expr) -> bool:
    """Tell whether a condition reads configuration, shapes or None rather than values."""
    match test:
        case ast.BoolOp(values=parts):
            return all(_plain_test(part) for part in parts)
        case ast.UnaryOp(operand=part) | ast.Subscript(value=part):
            return _plain_test(part)
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Compare(left=left, comparators=right):
            return all(_plain_test(part) for part in (left, *right))
        case ast.BinOp(left=left, right=right):
            return _plain_test(left) and _plain_test(right)
        case _:
            return _plain_read(test)


def _plain_read(test: ast.expr) -> bool:
    match test:
        case ast.Call(func=ast.Name(id="isinstance" | "len" | "hasattr")):
            return True
        case ast.Call(func=ast.Attribute(attr="dim" | "size" | "is_available" | "numel")):
            return True
        case ast.Attribute(attr="shape" | "ndim" | "dtype" | "training" | "is_cuda" | "device"):
            return True
        case ast.Attribute(value=ast.Name(id="self")) | ast.Constant():
            return True
        case _:
            return False
