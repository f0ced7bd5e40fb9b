"""Where the time goes, for a person who thinks of paying for a search: sentences, baselines, costliest kernels.

Made from a verdict and the profile in its evidence; the kernels' names and times are the word of the process that held
the candidate, so none of this is part of a verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcp_server import clean, facts

if TYPE_CHECKING:
    from mcp_server.contract import Verdict
    from mcp_server.executor import Outcome
    from mcp_server.link import Message

COSTLIEST = 10
"""Kernels that are told."""
NAME_LIMIT = 120
IDLE = 0.3
"""From this share of waiting on, launches are what holds a candidate back."""
NEAR = 0.4
"""From this part of the floor's speed on, the floor is what holds it back."""
GAIN = 1.05
NOISY = 0.10
"""From this difference of eager against itself on, numbers need a warning."""
CLASSES = {"fp32": ("fp32",), "tf32": ("fp32", "tf32_fp16"), "half": ("fp32", "tf32_fp16", "bf16")}
"""Precision classes that a policy allows."""


def described(outcome: Outcome) -> Verdict:
    """Return the verdict with what the profile says in its fields; as it is where there is no profile."""
    profile = _part(outcome.evidence, "profile")
    verdict = outcome.verdict.model_copy()
    if not profile:
        return verdict
    own = _part(profile, "candidate")
    verdict.profiler = "torch.profiler"
    verdict.hottest = [_line(row) for row in kernels(own)[:COSTLIEST]]
    verdict.idle_share_ratio = _maybe(own, "idle_share_ratio")
    verdict.launches_per_call = _maybe(own, "launches_per_call")
    verdict.own_share_ratio = _maybe(own, "own_share_ratio")
    verdict.library_share_ratio = _maybe(own, "library_share_ratio")
    verdict.framework_share_ratio = _maybe(own, "framework_share_ratio")
    verdict.do_bench_ms = _maybe(own, "do_bench_ms")
    verdict.eager_do_bench_ms = _maybe(_part(profile, "original"), "do_bench_ms")
    verdict.summary = summary(verdict, profile)
    return verdict


def whole(outcome: Outcome) -> Message:
    """Return everything as JSON: the verdict, and the profile with the machine's facts in words."""
    profile = dict(_part(outcome.evidence, "profile"))
    if profile:
        profile["facts_lines"] = facts.lines(_part(profile, "facts"))
        for side in ("candidate", "original"):
            part = dict(_part(profile, side))
            part["kernels"] = kernels(part)[:COSTLIEST]
            profile[side] = part
    return {"verdict": described(outcome).model_dump(mode="json"), "profile": profile or None}


def baseline_lines(qualification: Message) -> list[str]:
    """Return what is kept of the original by itself, a line each."""
    rows = qualification.get("baselines")
    found = cast("list[Message]", rows) if isinstance(rows, list) else []
    eager_ms = _number(found[0], "time_ms") if found else 0.0
    return [
        f"{row['name']} ({row['precision_class']}): {_ms(_number(row, 'time_ms'))}, "
        f"{eager_ms / (_number(row, 'time_ms') or 1):.2f}× over eager"
        for row in found
    ]


def floor_lines(qualification: Message) -> list[str]:
    """Return the floors that are kept of a task, a line each."""
    floors = _part(qualification, "floors")
    told: list[str] = []
    for name in floors:
        ms, side = _floor_ms({"floors": floors}, name)
        told.append(f"{name}: {_ms(ms)}, set by {'memory' if side == 'memory' else 'arithmetic'}")
    return told


def kernels(part: Message) -> list[Message]:
    """Return the kernels, names fit to show."""
    rows = part.get("kernels")
    found = cast("list[Message]", rows) if isinstance(rows, list) else []
    return [{**row, "name": _name(str(row.get("name")))} for row in found]


def summary(verdict: Verdict, profile: Message) -> list[str]:
    """Return what to know before spending money on a search, a sentence each."""
    own = _part(profile, "candidate")
    runtime_ms = verdict.runtime_ms or _number(own, "wall_us") / 1e3
    told = [_held_back(verdict, own, _floor_ms(profile, _class(verdict)), runtime_ms)]
    told += [_baseline(verdict), *_left(verdict, profile), *_costliest(own)]
    return [sentence for sentence in [*told, _noise(verdict)] if sentence]


def _noise(verdict: Verdict) -> str:
    """Say how much of all this the machine's noise may be, where it is much."""
    noise = verdict.noise_floor_ratio or 0.0
    if noise < NOISY:
        return ""
    return f"this machine is too noisy now: eager differs from itself by {noise:.0%}; ask again when it is quiet."


def _held_back(verdict: Verdict, own: Message, floor: tuple[float, str], ms: float) -> str:
    idle = _number(own, "idle_share_ratio")
    floor_ms, side = floor
    if verdict.launch_bound or idle > IDLE:
        launches = _number(own, "launches_per_call")
        gain = f", worth up to {1 / (1 - idle):.1f}×" if 0 < idle < 1 else ""
        return (
            f"launch-bound: the GPU waits {idle:.0%} of a call with {launches:.0f} launches; "
            f"fewer kernels or a CUDA graph would help{gain}."
        )
    if not ms or not floor_ms:
        return ""
    left = max(1.0, ms / floor_ms)
    if floor_ms / ms >= NEAR:
        return f"{side}-bound: {_ms(ms)} of a {_ms(floor_ms)} floor; at most {left:.1f}× is left in this precision."
    return (
        f"far from the machine's limits: {_ms(ms)} of a {_ms(floor_ms)} floor set by "
        f"{'memory' if side == 'memory' else 'arithmetic'}, {left:.0f}× apart."
    )


def _baseline(verdict: Verdict) -> str:
    best = _strongest(verdict)
    if best is None or not verdict.eager_ms:
        return ""
    name, precision_class, ms = best
    gain = verdict.eager_ms / ms
    if name == "eager" or gain < GAIN:
        return "no one-line change of PyTorch that was measured gains 5 % over eager."
    return f"{name} ({precision_class}) already gives {gain:.1f}× over eager: a search must beat {_ms(ms)}."


def _left(verdict: Verdict, profile: Message) -> list[str]:
    """Say what the coarsest precision of the policy leaves, from the strongest baseline on."""
    policy = verdict.policy_effective or verdict.precision_policy or "half"
    allowed = CLASSES.get(policy, ("fp32",))
    floors = {name: _floor_ms(profile, name)[0] for name in allowed}
    name = min(floors, key=lambda one: floors[one])
    best = _strongest(verdict)
    if best is None or floors[name] <= 0:
        return []
    left = best[2] / floors[name]
    if left < 1:
        return ["the strongest baseline is below the floor: algebra or a cache saves bytes here."]
    return [
        f"the floor in {name} is {_ms(floors[name])}: {left:.1f}× beyond the strongest baseline."
    ]


def _costliest(own: Message) -> list[str]:
    rows = kernels(own)
    if not rows:
        return ["the profiler saw no kernel: it may be closed to this user, or to this sandbox."]
    share = _number(rows[0], "share_ratio")
    return [f"the costliest takes {share:.0%} of the time in kernels: {rows[0]['name']}."]


def _strongest(verdict: Verdict) -> tuple[str, str, float] | None:
    rows = zip(
        verdict.baseline_names or [],
        verdict.baseline_classes or [],
        verdict.baseline_times_ms or [],
        strict=False,
    )
    return min(rows, key=lambda row: row[2], default=None)


def _class(verdict: Verdict) -> str:
    return verdict.precision_class or "fp32"


def _floor_ms(profile: Message, precision_class: str) -> tuple[float, str]:
    """Return the floor of a class in milliseconds, and which side sets it."""
    floors = _part(profile, "floors")
    found = _part(floors, precision_class) or _part(floors, "bf16")
    memory, compute = _number(found, "memory_ms"), _number(found, "compute_ms")
    return max(memory, compute), "memory" if memory >= compute else "compute"


def _line(row: Message) -> str:
    calls = _number(row, "calls")
    return (
        f"{_number(row, 'share_ratio'):.0%} {_number(row, 'us'):.1f} µs, {calls:.3g} calls, "
        f"{row.get('kind')}: {row['name']}"
    )


def _name(name: str) -> str:
    """Return a kernel's name fit to show: candidates choose theirs."""
    shown = " ".join(clean.printable(name).split()).encode("ascii", "replace").decode()
    return shown if len(shown) <= NAME_LIMIT else shown[: NAME_LIMIT - 3] + "..."


def _ms(ms: float) -> str:
    return f"{ms:.3g} ms" if ms >= 0.1 else f"{ms * 1e3:.3g} µs"


def _part(value: Message, name: str) -> Message:
    found = value.get(name)
    return cast("Message", found) if isinstance(found, dict) else {}


def _number(value: Message, name: str) -> float:
    found = value.get(name)
    return float(found) if isinstance(found, int | float) else 0.0


def _maybe(value: Message, name: str) -> float | None:
    return _number(value, name) if value.get(name) is not None else None
