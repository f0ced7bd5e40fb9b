"""Whether a candidate is faster, as people read it: where neither can be told, what stands in the way is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST = 0.02
"""Of a ratio: the evaluator tells no smaller difference, however quiet the machine is."""
NOT_TOLD = "indistinguishable"


def outcome(verdict: Mapping[str, Any], name: str = "outcome") -> str:
    """Return `faster`, `slower`, or that no difference is told; empty where nothing was compared.

    `name`: `outcome_eager` compares with eager.
    """
    found = str(verdict.get(name) or "")
    return no_difference(verdict) if found == NOT_TOLD else str(inert_line(found, 20))


def no_difference(verdict: Mapping[str, Any]) -> str:
    """Return why no difference is told, also where the interval lies wholly on one side of 1.

    `no measurable difference: not beyond the ±18 % that noise makes here`
    """
    margin = _margin(verdict)
    beyond = f": not beyond the {margin} that noise makes here" if margin else ""
    return f"no measurable difference{beyond}"


def noise(verdict: Mapping[str, Any]) -> str:
    """Return the same in a cell: ` (noise ±18 %)`."""
    margin = _margin(verdict)
    return f" (noise {margin})" if margin else ""


def _margin(verdict: Mapping[str, Any]) -> str:
    floor = verdict.get("noise_floor_ratio")
    return f"±{100 * max(LEAST, floor):.2g} %" if isinstance(floor, int | float) else ""
