"""What a profile says: sentences from numbers, and foreign names made fit to show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_server import facts, profile
from mcp_server.contract import RESULT_LIMIT_BYTES, EngineResult, Status, Verdict
from mcp_server.executor import Outcome
from mcp_server.profile import described
from mcp_server.reply import verdict_reply

FLOORS = {
    "fp32": {"memory_ms": 0.2, "compute_ms": 1.2},
    "tf32_fp16": {"memory_ms": 0.15, "compute_ms": 0.1},
    "bf16": {"memory_ms": 0.15, "compute_ms": 0.1},
}
HOSTILE = "void evil\x1b]0;owned\x07<" + "x" * 4000 + ">"


def kernel(name: str, us: float, share: float, kind: str = "own") -> dict[str, Any]:
    return {"name": name, "calls": 1.0, "us": us, "share_ratio": share, "kind": kind}


def outcome(verdict: Verdict | None = None, **own: Any) -> Outcome:
    side: dict[str, Any] = {
        "wall_us": 1900.0,
        "idle_share_ratio": 0.05,
        "launches_per_call": 3.0,
        "own_share_ratio": 0.9,
        "kernels": [kernel("ampere_sgemm", 1700.0, 0.9, "library"), kernel(HOSTILE, 190.0, 0.1)],
        **own,
    }
    seen: dict[str, Any] = {
        "candidate": side,
        "original": side,
        "floors": FLOORS,
        "facts": {},
        "notes": [],
    }
    return Outcome(verdict or measured(), evidence={"profile": seen})


def measured(**fields: Any) -> Verdict:
    facts: dict[str, Any] = {
        "status": Status.OK,
        "precision_class": "fp32",
        "precision_policy": "half",
        "runtime_ms": 1.9,
        "eager_ms": 1.9,
        "baseline_names": ["eager", "tf32_compile"],
        "baseline_classes": ["fp32", "tf32_fp16"],
        "baseline_times_ms": [1.9, 0.46],
    }
    return Verdict.model_validate({**facts, **fields})


def test_a_candidate_near_its_floor_is_told_what_is_left() -> None:
    told = described(outcome()).summary
    assert told[0] == (
        "compute-bound: 1.9 ms of a 1.2 ms floor; at most 1.6× is left in this precision."
    )
    assert told[1].startswith("tf32_compile (tf32_fp16) already gives 4.1× over eager")
    assert "the floor in tf32_fp16 is 0.15 ms: 3.1× beyond the strongest baseline." in told


def test_a_gpu_that_waits_is_launch_bound() -> None:
    told = described(outcome(idle_share_ratio=0.6, launches_per_call=84.0)).summary
    assert told[0].startswith("launch-bound: the GPU waits 60% of a call with 84 launches")
    assert "2.5×" in told[0]


def test_a_candidate_far_from_both_floors_is_not_called_bound_by_either() -> None:
    told = described(outcome(measured(runtime_ms=19.0))).summary
    assert told[0].startswith("far from the machine's limits: 19 ms of a 1.2 ms floor")


def test_without_a_faster_baseline_it_says_so() -> None:
    same = measured(baseline_names=["eager"], baseline_classes=["fp32"], baseline_times_ms=[1.9])
    told = described(outcome(same)).summary
    assert "no one-line change of PyTorch that was measured gains 5 % over eager." in told


def test_a_profiler_that_saw_no_kernel_is_said() -> None:
    told = described(outcome(kernels=[], idle_share_ratio=None, launches_per_call=None)).summary
    assert "saw no kernel" in told[-1]
    assert not any("launch-bound" in sentence for sentence in told)


def test_a_noisy_machine_is_said() -> None:
    assert "too noisy" in described(outcome(measured(noise_floor_ratio=0.64))).summary[-1]
    assert not any(
        "noisy" in s for s in described(outcome(measured(noise_floor_ratio=0.01))).summary
    )


def test_an_attempt_whose_timing_failed_still_has_its_kernels() -> None:
    lost = Verdict(status=Status.INFRA_ERROR, code="unstable_clock", cause="busy")
    found = described(outcome(lost))
    assert found.hottest
    assert found.status is Status.INFRA_ERROR


def test_the_names_of_kernels_are_foreign_and_short() -> None:
    found = described(outcome(kernels=[kernel(HOSTILE, 1.0, 1.0)]))
    shown = json.dumps(found.hottest + found.summary, ensure_ascii=False)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert len(found.hottest[0]) < 200


def test_a_profile_fits_an_agents_result_whatever_the_kernels_are_called() -> None:
    rows = [kernel("é" * 4000, 1.0, 0.1) for _ in range(60)]
    found = described(outcome(kernels=rows))
    result = EngineResult.model_validate({**found.model_dump(), "stderr_tail": "x" * 10_000})
    reply = verdict_reply(result, whole=False)
    assert len(json.dumps(reply.structured_content).encode()) <= RESULT_LIMIT_BYTES
    assert len(found.hottest) == profile.COSTLIEST


def test_a_verdict_without_a_profile_stays_as_it_is() -> None:
    plain = Outcome(measured())
    assert described(plain) == plain.verdict


@pytest.mark.parametrize("damaged", [{}, {"copy_bytes_per_s": "fast"}, {"matrix_flops_per_s": 3}])
def test_facts_of_another_version_are_told_as_far_as_they_go(damaged: dict[str, Any]) -> None:
    assert facts.lines(damaged)
