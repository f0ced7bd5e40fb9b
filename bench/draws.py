"""The assumed world of the scheduler benchmark, keyed by what each draw is for: no schedule changes an outcome.

| kind | draws, in order |
| --- | --- |
| `llm` | lognormal, median 80 s, sigma 0.5; with 0.03 add 10 s + exponential, mean 60 s |
| `never` | 0.2: the trajectory never works |
| `ev` | 0.015: hangs 900 s, fails, no GPU. Works: 0.55. Compile: median 45 s (0.6) or 10 s, lognormal, sigma 0.5. |
| | GPU: 10 s + exponential, mean 4 s, if it works or else with 0.35 |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random

HANG_S = 900.0


@dataclass(frozen=True, slots=True)
class Key:
    """One step of one proposal of one task."""

    task: int
    n: int
    """0-based; the ideas are −1."""
    step: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation takes and comes to."""

    works: bool
    compile_s: float
    gpu_s: float | None
    """None: it never gets to the GPU."""
    fate: str
    """As `tests.fakes.verdict_on` reads it."""


def llm_s(seed: int, key: Key) -> float:
    """Return how long a query takes."""
    random = _random("llm", seed, key)
    seconds = random.lognormvariate(math.log(80), 0.5)
    return seconds + (10 + random.expovariate(1 / 60) if random.random() < 0.03 else 0.0)


@lru_cache(4096)
def evaluation(seed: int, key: Key) -> Evaluation:
    """Return what an evaluation takes."""
    random = _random("ev", seed, key)
    if random.random() < 0.015:
        return Evaluation(False, HANG_S, None, "timeout")
    works = random.random() < 0.55 and not never(seed, key)
    median = 45 if random.random() < 0.6 else 10
    compile_s = random.lognormvariate(math.log(median), 0.5)
    if works:
        return Evaluation(True, compile_s, _gpu_s(random), "ok")
    if random.random() < 0.35:
        return Evaluation(False, compile_s, _gpu_s(random), "wrong_result")
    return Evaluation(False, compile_s, None, "compile_error")


def never(seed: int, key: Key) -> bool:
    """Return whether the trajectory never works."""
    return Random(f"never/{seed}/{key.task}/{key.n}").random() < 0.2


def speed(seed: int, key: Key) -> float:
    """Return how many times faster than eager it is, if it works."""
    return round(0.8 + 2.0 * _random("speed", seed, key).random(), 6)


def _gpu_s(random: Random) -> float:
    return 10 + random.expovariate(1 / 4)


def _random(kind: str, seed: int, key: Key) -> Random:
    return Random(f"{kind}/{seed}/{key.task}/{key.n}/{key.step}")
