"""Run task and candidate files side by side, in a process of its own that imports torch.

Reads a JSON list of {task, candidate, rules} from stdin; prints a JSON list of what was found, in order.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportPrivateUsage=false

from __future__ import annotations

import json
import sys
import traceback
import types
from typing import Any

import torch
from torch.utils import _pytree


def load(source: str, name: str) -> dict[str, Any]:
    module = sys.modules[name] = types.ModuleType(name)  # torch.compile looks it up
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module.__dict__


def built(space: dict[str, Any], model: str, given: list[Any]) -> Any:
    torch.manual_seed(3)
    made = space[model](*given).eval()
    torch.manual_seed(4)
    for weight in made.parameters():
        weight.data = weight.data + 0.05 * torch.randn_like(weight.data)
    return made


def compared(task_source: str, candidate_source: str) -> dict[str, Any]:
    task, candidate = load(task_source, "task"), load(candidate_source, "candidate")
    torch.manual_seed(1)
    given = task["get_init_inputs"]()
    original, new = built(task, "Model", given), built(candidate, "ModelNew", given)
    new.load_state_dict(original.state_dict(), strict=True)
    inputs = [task["get_inputs"]() for _ in range(2)]
    with torch.inference_mode():
        want = [original(*one) for one in inputs]
        got = [new(*one) for one in inputs]
    names = list(original.state_dict()) == list(new.state_dict())
    return {"names": names, **difference(want, got)}


def difference(want: Any, got: Any) -> dict[str, Any]:
    wanted, shape = _pytree.tree_flatten(want)
    found, other = _pytree.tree_flatten(got)
    same = shape == other and all(
        (a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(wanted, found, strict=True)
    )
    error = max(
        float((a.double() - b.double()).norm() / (a.double().norm() + 1e-12))
        for a, b in zip(wanted, found, strict=True)
    )
    return {"structure": same, "error": error}


def main() -> None:
    torch.set_num_threads(1)
    results: list[dict[str, Any]] = []
    for pair in json.load(sys.stdin):
        try:
            results.append(compared(pair["task"], pair["candidate"]))
        except Exception:  # noqa: BLE001  (whatever a candidate raises is what was found)
            results.append({"raised": traceback.format_exc()[-2000:]})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
