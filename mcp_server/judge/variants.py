# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""The ways that one line of PyTorch makes an original faster: compiled, in coarser formats, as a CUDA graph."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_server.judge.budget import FORMATS, Budget, Format
from mcp_server.judge.station import Loading

if TYPE_CHECKING:
    from mcp_server.judge.qualification import Qualification
    from mcp_server.judge.task import Task


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the original."""

    name: str
    precision_class: str
    form: Format | None
    compile: bool
    mode: str | None = None
    """Of torch.compile, or another way of making it faster that a worker knows."""

    def loading(self, task: Task, tf32: bool | None) -> Loading:
        """Return how a worker loads it; TF32 as the policy has it, but where the format says so."""
        form = self.form
        return Loading(
            task.source,
            "Model",
            cast=form.cast if form else None,
            autocast=form.autocast if form else None,
            tf32=True if form and form.name == "tf32" else tf32,
            compile=self.compile,
            mode=self.mode,
        )


EAGER = Variant("eager", "fp32", None, compile=False)


def variants(budget: Budget, device: str) -> list[Variant]:
    """Return the compiled ways to run the original within the policy's formats."""
    found = [Variant("compile", "fp32", None, compile=True)]
    for form in FORMATS:
        if form.name == "fp32" or form.name not in _allowed(budget):
            continue
        if form.name == "tf32" and device == "cpu":
            continue
        if budget.runs[form.name].worst <= 2 * budget.runs["fp32"].worst:
            continue  # autocast leaves this model in fp32
        found.append(Variant(f"{form.name}_compile", form.precision_class, form, compile=True))
    return found


def more_variants(found: Qualification, device: str, *, slow: bool) -> list[Variant]:
    """Return further ways, in fp32 and in the fastest format measured, that were not tried; none on a CPU.

    CUDA graphs take seconds; `slow` adds what takes minutes: max-autotune, and TensorRT where it is installed.
    """
    if device == "cpu":
        return []
    rows = [row for row in found.baselines if row.name.removesuffix("_compile") in _BY_NAME]
    fastest = min(rows, key=lambda row: row.time_ms, default=None)
    forms: list[Format | None] = [None]
    if fastest is not None:
        forms.append(_BY_NAME[fastest.name.removesuffix("_compile")])
    modes = {**_GRAPHS, **(_SLOW if slow else {})}
    ways = [_way(name, mode, form) for form in forms for name, mode in modes.items()]
    if slow and importlib.util.find_spec("torch_tensorrt") is not None:
        # It takes TF32 as it likes.
        ways.append(Variant("tensorrt", "tf32_fp16", None, compile=True, mode="tensorrt"))
    return [way for way in ways if way.name not in found.tried]


def _way(name: str, mode: str, form: Format | None) -> Variant:
    if form is None:
        return Variant(name, "fp32", None, compile=True, mode=mode)
    return Variant(f"{form.name}_{name}", form.precision_class, form, compile=True, mode=mode)


_BY_NAME = {form.name: form for form in FORMATS if form.name != "fp32"}
_GRAPHS = {"graphed": "graphed", "compile_graphed": "compile-graphed"}
_SLOW = {
    "max_autotune": "max-autotune-no-cudagraphs",
    "max_autotune_graphed": "max-autotune-graphed",
}


def _allowed(budget: Budget) -> list[str]:
    """Return the policy's formats, and those of finer policies within the cap."""
    finer = [
        form.name
        for form in FORMATS
        if form.name in budget.runs
        and form.policy != "half"
        and budget.policy != "fp32"
        and budget.runs[form.name].worst <= budget.cap
    ]
    return [*budget.formats, *finer]


def is_further(name: str) -> bool:
    """Return whether a baseline is one of those that `more_variants` adds."""
    return name == "tensorrt" or name.endswith(tuple({**_GRAPHS, **_SLOW}))
