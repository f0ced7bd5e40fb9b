"""What `--input` says of one argument of a model: `[NAME=]SHAPE[,SHAPE…][:DTYPE[:LOW..HIGH]]`.

| typed | meaning |
| --- | --- |
| `8x128x64` | float32, normally distributed, shape (8, 128, 64) |
| `1x128,32x128:bfloat16` | two shapes, each tried |
| `ids=4x128:int64:0..50257` | by keyword; whole numbers from 0 to 50256 |
| `scalar:float32:0..1` | no dimension; uniformly distributed |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite, prod
from typing import TYPE_CHECKING

from workbench.errors import WrongUsage, nearest
from workbench.format import size

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[int, ...]
_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
_WHOLE = {"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1}
_DTYPES = {**_BYTES, **_WHOLE, "bool": 1}
_LIMIT_BYTES = 1024**3
"""Of one set of inputs: the evaluator's limit."""
_RANGE = re.compile(r"(-?[\d.]+(?:e-?\d+)?)\.\.(-?[\d.]+(?:e-?\d+)?)")


@dataclass(frozen=True, slots=True)
class Input:
    """One argument of `forward`."""

    shapes: tuple[Shape, ...]
    dtype: str = "float32"
    name: str = ""
    """Its keyword, if it is given by one."""
    low: float | None = None
    high: float | None = None

    def expression(self, shape: Shape) -> str:
        """Return the Python that draws it in one shape."""
        dims = repr(shape)
        match self.dtype:
            case "bool":
                return f"torch.rand({dims}) < 0.5"
            case name if name in _WHOLE:
                return f"torch.randint({self.low:.0f}, {self.high:.0f}, {dims}, dtype=torch.{name})"
            case _:
                return self._floating(dims)

    def _floating(self, dims: str) -> str:
        if self.low is None or self.high is None:
            drawn = f"torch.randn({dims})"
        else:
            drawn = f"torch.empty({dims}).uniform_({self.low:g}, {self.high:g})"
        return drawn if self.dtype == "float32" else f"{drawn}.to(torch.{self.dtype})"


def parsed(typed: Sequence[str]) -> list[list[tuple[Input, Shape]]]:
    """Return the sets of inputs: per set each argument with its shape in it.

    Raises:
        WrongUsage: one of them cannot be meant, or they do not go together.
    """
    inputs = [_input(text) for text in typed]
    if not inputs:
        raise WrongUsage("give --input SHAPE[:DTYPE] for each argument of forward, as 8x128x64.")
    _check_order(inputs)
    counts = {len(one.shapes) for one in inputs if len(one.shapes) > 1}
    if len(counts) > 1:
        raise WrongUsage(
            "each --input must have as many shapes as the others, or one: there are "
            f"{' and '.join(str(count) for count in sorted(counts))}."
        )
    sets = [
        [(one, one.shapes[n % len(one.shapes)]) for one in inputs]
        for n in range(max(counts, default=1))
    ]
    _check_size(sets)
    return sets


def _check_order(inputs: Sequence[Input]) -> None:
    names = [one.name for one in inputs]
    if any(names[n] and not names[n + 1] for n in range(len(names) - 1)):
        raise WrongUsage("an --input without a name stands behind one with NAME=: put it before.")
    twice = next((name for name in names if name and names.count(name) > 1), "")
    if twice:
        raise WrongUsage(f"--input {twice}= is given twice; several shapes are 8x16,32x16.")


def _check_size(sets: Sequence[Sequence[tuple[Input, Shape]]]) -> None:
    whole = sum(prod(shape) * _DTYPES[one.dtype] for row in sets for one, shape in row)
    if whole > _LIMIT_BYTES:
        raise WrongUsage(
            f"all inputs together take {size(whole)}; {size(_LIMIT_BYTES)} is the most. Make them smaller."
        )


def _input(text: str) -> Input:
    name, _, rest = text.rpartition("=")
    if name and not name.isidentifier():
        raise WrongUsage(f"--input {text}: {name!r} cannot be an argument's name.")
    shapes, _, kind = rest.partition(":")
    dtype, _, bounds = kind.partition(":")
    dtype = dtype or "float32"
    if dtype not in _DTYPES:
        raise WrongUsage(
            f"--input {text}: there is no dtype {dtype!r}.{nearest(dtype, _DTYPES)} "
            f"There are {', '.join(_DTYPES)}."
        )
    low, high = _bounds(text, dtype, bounds)
    return Input(tuple(_shape(text, s) for s in shapes.split(",")), dtype, name, low, high)


def _shape(text: str, typed: str) -> Shape:
    if typed == "scalar":
        return ()
    if not re.fullmatch(r"\d{1,12}(x\d{1,12})*", typed):
        raise WrongUsage(f"--input {text}: {typed!r} is no shape; 8x128x64 is one, scalar another.")
    dims = tuple(int(d) for d in typed.split("x"))
    if 0 in dims:
        raise WrongUsage(f"--input {text}: a dimension of 0 leaves nothing to compute.")
    return dims


def _bounds(text: str, dtype: str, typed: str) -> tuple[float | None, float | None]:
    if not typed:
        if dtype in _WHOLE:
            raise WrongUsage(
                f"--input {text}: whole numbers need a range, as 4x128:{dtype}:0..50257 (below 50257)."
            )
        return None, None
    found = _RANGE.fullmatch(typed)
    if dtype == "bool" or not found:
        raise WrongUsage(f"--input {text}: {typed!r} is no range for {dtype}; 0..10 is one.")
    low, high = _number(text, found[1]), _number(text, found[2])
    if low >= high:
        raise WrongUsage(f"--input {text}: {low:g} is not below {high:g}.")
    return low, high


def _number(text: str, typed: str) -> float:
    try:
        value = float(typed)
    except ValueError:
        value = float("inf")
    if not isfinite(value):
        raise WrongUsage(f"--input {text}: {typed!r} is no number.")
    return value
