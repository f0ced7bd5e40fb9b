# pyright: reportUnknownMemberType=false
"""One candidate the plain way: a fresh interpreter, a look at the answer, 1 s of warm-up, 5 s of repetitions.

    python -m bench.plain_way TASK.py CANDIDATE.py --device cuda:0 --lock FILE

What evaluators of this kind usually do: build without the lock, then hold one lock for everything that touches the
device. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import json
import statistics
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

WARM_UP_S = 1.0
REPEAT_S = 5.0
LOOKS = 5
"""Random inputs whose answers are compared."""
TOLERANCE = 1e-2


def main() -> None:
    """Judge one candidate and print it."""
    arguments = parse()
    began = time.monotonic()
    try:
        found = judge(arguments)
    except Exception as error:  # noqa: BLE001 -- whatever a candidate raises is the result
        found = {"status": "error", "cause": f"{type(error).__name__}: {str(error)[-300:]}"}
    print(json.dumps({**found, "wall_s": time.monotonic() - began}))


def parse() -> argparse.Namespace:
    """Return the flags."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", type=Path)
    parser.add_argument("candidate", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lock", type=Path, required=True)
    return parser.parse_args()


def judge(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build, compare, time."""
    began = time.monotonic()
    candidate = load(arguments.candidate, "candidate")
    build_s = time.monotonic() - began
    with exclusive(arguments.lock) as held:
        task = load(arguments.task, "task")
        model, other = (
            made(task.Model, task, arguments.device),
            made(candidate.ModelNew, task, arguments.device),
        )
        right = all(same(model, other, task, arguments.device) for _ in range(LOOKS))
        if right:
            median_s = timed(other, task, arguments.device)
            held_s = time.monotonic() - held
            return {"status": "ok", "build_s": build_s, "lease_s": held_s, "ms": median_s * 1e3}
        held_s = time.monotonic() - held
    return {"status": "wrong_result", "build_s": build_s, "lease_s": held_s}


def load(path: Path, name: str) -> Any:
    """Run a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def exclusive(path: Path) -> Generator[float]:
    """Hold the device; yields since when."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield time.monotonic()


def made(kind: Any, task: Any, device: str) -> torch.nn.Module:
    """Return a model with the same random weights as any other."""
    torch.manual_seed(42)
    return kind(*task.get_init_inputs()).to(device).eval()


def inputs(task: Any, device: str) -> list[Any]:
    """Return new inputs on the device."""
    return [x.to(device) if isinstance(x, torch.Tensor) else x for x in task.get_inputs()]


def same(model: torch.nn.Module, other: torch.nn.Module, task: Any, device: str) -> bool:
    """Compare two answers."""
    given = inputs(task, device)
    with torch.inference_mode():
        one, two = leaves(model(*given)), leaves(other(*given))
    return len(one) == len(two) and all(
        a.shape == b.shape and torch.allclose(a, b, atol=TOLERANCE, rtol=TOLERANCE)
        for a, b in zip(one, two, strict=True)
    )


def leaves(answer: Any) -> list[torch.Tensor]:
    """Return the tensors of an answer."""
    return [answer] if isinstance(answer, torch.Tensor) else list(answer)


def timed(model: torch.nn.Module, task: Any, device: str) -> float:
    """Return the median seconds of a call."""
    given = inputs(task, device)
    once = on_gpu if device.startswith("cuda") else on_cpu
    with torch.inference_mode():
        repeated(lambda: once(model, given), WARM_UP_S)
        return statistics.median(repeated(lambda: once(model, given), REPEAT_S))


def repeated(act: Callable[[], float], seconds: float) -> list[float]:
    """Act again and again for that long."""
    until, found = time.monotonic() + seconds, list[float]()
    while time.monotonic() < until:
        found.append(act())
    return found


def on_gpu(model: torch.nn.Module, given: list[Any]) -> float:
    """Time one call by events."""
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record()
    model(*given)
    after.record()
    torch.cuda.synchronize()
    return before.elapsed_time(after) / 1e3


def on_cpu(model: torch.nn.Module, given: list[Any]) -> float:
    """Time one call by the clock."""
    began = time.perf_counter()
    model(*given)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
