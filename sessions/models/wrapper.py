"""The text of `ModelNew`: a subclass that runs its base's forward pass under the rules.

```
inputs ─▶ channels_last ─▶ TF32 ─▶ CUDA graph ─▶ torch.compile ─▶ half precision ─▶ the base's forward
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from sessions.models.rules import SAYS, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODES = {
    Rule.COMPILE: "default",
    Rule.COMPILE_OVERHEAD: "reduce-overhead",
    Rule.COMPILE_AUTOTUNE: "max-autotune",
}
_DTYPES = {Rule.BF16: "bfloat16", Rule.FP16: "float16"}

_INNERMOST_FIRST = (
    Rule.BF16,
    Rule.FP16,
    Rule.COMPILE,
    Rule.COMPILE_OVERHEAD,
    Rule.COMPILE_AUTOTUNE,
    Rule.CUDA_GRAPH,
    Rule.TF32,
    Rule.CHANNELS_LAST,
)

_OWN_NAMES = re.compile(r"\b(_fast|_build|_each|_half|_fresh|_Graph|_tf32|_channels_last)\b")

_EACH = '''
def _each(value, change):
    """Apply `change` to every tensor in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return type(value)((key, _each(item, change)) for key, item in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_each(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_each(item, change) for item in value)
    return value
'''

_HALF = '''
def _half(run):
    """Compute in half precision, answer in float32."""

    def in_half(*args, **kwargs):
        with torch.autocast("DEVICE", dtype=torch.DTYPE):
            answer = run(*args, **kwargs)
        return _each(answer, lambda x: x.float() if x.dtype is torch.DTYPE else x)

    return in_half
'''

_FRESH = '''
def _fresh(run):
    """Copy answers out of memory that the next call reuses."""
    return lambda *args, **kwargs: _each(run(*args, **kwargs), torch.clone)
'''

_TF32 = '''
def _tf32(run):
    """Let float32 matrix products use TF32, in this call only."""

    def with_tf32(*args, **kwargs):
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            return run(*args, **kwargs)
        finally:
            torch.set_float32_matmul_precision(before)

    return with_tf32
'''

_CHANNELS_LAST = '''
def _channels_last(model, run):
    """Order weights once, and images in each call, with channels last."""
    orders = {4: torch.channels_last, 5: torch.channels_last_3d}

    def ordered(x):
        return x.contiguous(memory_format=orders[x.dim()]) if x.dim() in orders else x

    with torch.inference_mode(False), torch.no_grad():
        for weight in model.parameters():
            weight.data = ordered(weight.data)
    return lambda *args, **kwargs: run(*_each(args, ordered), **_each(kwargs, ordered))
'''

_GRAPH = '''
class _Graph:
    """Replays a function as one CUDA graph: live inputs are copied in, fresh answers out."""

    def __init__(self, run):
        self.run, self.captured = run, {}

    def __call__(self, *args, **kwargs):
        if kwargs or not all(isinstance(x, torch.Tensor) and x.is_cuda for x in args):
            return self.run(*args, **kwargs)
        key = tuple((x.shape, x.stride(), x.dtype, x.device) for x in args)
        if key not in self.captured:
            self.captured[key] = self.capture(args)
        graph, inputs, answer = self.captured[key]
        for place, live in zip(inputs, args):
            place.copy_(live)
        graph.replay()
        return _each(answer, torch.clone)

    def capture(self, args):
        inputs = [x.clone() for x in args]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.run(*inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            answer = self.run(*inputs)
        return graph, inputs, answer
'''

_CLASS = '''
class ModelNew(BASE):
    """BASE with: SAYS."""

    _fast = None

    def forward(self, *args, **kwargs):
        if self._fast is None:
            self._fast = self._build()
        return self._fast(*args, **kwargs)

    def _build(self):
        run = super().forward
STEPS
        return run
'''

_PLAIN = '''
class ModelNew(BASE):
    """BASE, SAYS."""
'''


def wrapper(model: str, rules: Sequence[Rule], device: str, source: str) -> str:
    """Return the code that follows `source`, which defines `model`; its names are new to the file."""
    steps, helpers = _steps(rules, device)
    shape = _CLASS if steps else _PLAIN
    says = ", ".join(SAYS[rule] for rule in rules) or "unchanged"
    body = "\n".join(f"        {step}" for step in steps)
    cls = shape.replace("BASE", model).replace("SAYS", says).replace("STEPS", body)
    text = "\n\n\n".join(part.strip() for part in ("import torch", *helpers, cls)) + "\n"
    return _with_new_names(_filled(text, rules, device), source)


def _steps(rules: Sequence[Rule], device: str) -> tuple[list[str], list[str]]:
    """Return the lines that wrap `run`, innermost first, and the helpers they need."""
    on_gpu = _device_type(device) == "cuda"
    plan: list[tuple[str, list[str]]] = []
    for rule in _INNERMOST_FIRST:
        if rule in rules:
            plan += _step(rule, on_gpu)
    helpers = dict.fromkeys(helper for _, needed in plan for helper in needed)
    return [line for line, _ in plan], list(helpers)


def _step(rule: Rule, on_gpu: bool) -> list[tuple[str, list[str]]]:
    match rule:
        case Rule.BF16 | Rule.FP16:
            return [("run = _half(run)", [_EACH, _HALF])]
        case Rule.COMPILE:
            return [(_compile(rule), [])]
        case Rule.COMPILE_OVERHEAD | Rule.COMPILE_AUTOTUNE:
            fresh = [("run = _fresh(run)", [_EACH, _FRESH])] if on_gpu else []
            return [(_compile(rule), []), *fresh]
        case Rule.CUDA_GRAPH:
            return [("run = _Graph(run)", [_EACH, _GRAPH])]
        case Rule.TF32:
            return [("run = _tf32(run)", [_TF32])]
        case Rule.CHANNELS_LAST:
            return [("run = _channels_last(self, run)", [_EACH, _CHANNELS_LAST])]
        case Rule.FUSED_ATTENTION:
            return []
        case _:
            assert_never(rule)


def _compile(rule: Rule) -> str:
    return f'run = torch.compile(run, mode="{_MODES[rule]}")'


def _filled(text: str, rules: Sequence[Rule], device: str) -> str:
    dtype = next((_DTYPES[rule] for rule in rules if rule in _DTYPES), "")
    return text.replace("DEVICE", _device_type(device)).replace("DTYPE", dtype)


def _device_type(device: str) -> str:
    return device.split(":")[0]


def _with_new_names(text: str, source: str) -> str:
    """Give our helpers a number if the file already uses one of their names."""
    taken = set(re.findall(r"\b_\w+\b", source))
    names = set(_OWN_NAMES.findall(text))
    number = 1
    while any(f"{name}{number if number > 1 else ''}" in taken for name in names):
        number += 1
    return _OWN_NAMES.sub(rf"\g<1>{number}", text) if number > 1 else text
