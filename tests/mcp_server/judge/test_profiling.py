# pyright: reportUnknownMemberType=false
"""Profiles, floors and facts on synthetic numbers."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_server.judge import facts, floor
from mcp_server.judge.facts import Facts
from mcp_server.judge.floor import Cost, Floor
from mcp_server.judge.profiling import kind_of, profile_of

SOURCE = """
@triton.jit
def fused_softmax(x, y): ...

KERNEL = r'''
__global__ void scale_rows(float* x) {}
'''
"""
H200 = Facts(
    "NVIDIA H200",
    copy_bytes_per_s=4.0e12,
    read_bytes_per_s=4.2e12,
    write_bytes_per_s=4.1e12,
    matrix_flops_per_s={"fp32": 5e13, "tf32": 4e14, "fp16": 8e14, "bf16": 8e14, "fp8": 1.5e15},
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fused_softmax", "own"),
        ("void scale_rows(float*)", "own"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int)", "framework"),
        ("triton_poi_fused_add_0", "framework"),
        ("Memcpy DtoD (Device -> Device)", "framework"),
        ("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n", "library"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>(Params)", "library"),
        ("nvjet_hsh_128x256_64x4", "library"),
        ("void cudnn::bn_fw_inf_1C11_kernel_NCHW<float>(int)", "library"),
        ("aten::addmm", "library"),
        ("aten::tanh", "framework"),
        ("a_kernel_nobody_knows", "own"),
    ],
)
def test_a_kernel_belongs_to_whoever_wrote_it(name: str, kind: str) -> None:
    assert kind_of(name, SOURCE) == kind


def test_shares_and_waiting_are_of_one_call() -> None:
    rows = [["fused_softmax", 10, 600.0], ["aten::x", 20, 200.0]]
    found = profile_of({"calls": 10, "wall_us": 100.0, "rows": rows}, SOURCE, on_gpu=True)
    assert found["busy_us"] == pytest.approx(80.0)
    assert found["idle_share_ratio"] == pytest.approx(0.2)
    assert found["launches_per_call"] == 3
    assert found["own_share_ratio"] == pytest.approx(0.75)
    assert [one["share_ratio"] for one in found["kernels"]] == pytest.approx([0.75, 0.25])


def test_a_profiler_that_saw_nothing_does_not_say_that_the_gpu_waits() -> None:
    found = profile_of({"calls": 10, "wall_us": 100.0, "rows": []}, SOURCE, on_gpu=True)
    assert found["idle_share_ratio"] is None
    assert found["launches_per_call"] is None


def test_on_a_cpu_what_no_operation_of_pytorch_took_is_told_as_such() -> None:
    table = {"calls": 2, "wall_us": 50.0, "span_us": 60.0, "rows": [["aten::mm", 2, 40.0]]}
    found = profile_of(table, "", on_gpu=False)
    assert found["kernels"][0]["kind"] == "outside"
    assert found["kernels"][0]["us"] == pytest.approx(40.0)
    assert found["idle_share_ratio"] is None


NONSENSE: list[dict[str, Any]] = [
    {},
    {"calls": "many", "wall_us": None, "rows": 7},
    {"calls": -3, "wall_us": float("nan"), "rows": [[], [1, 2, 3], ["x", 1], ["x", "y", "z"]]},
    {"calls": 1, "wall_us": 1e308, "rows": [["x", 10**12, float("inf")], ["y", 1, -5.0]]},
]


@pytest.mark.parametrize("table", NONSENSE)
def test_no_table_of_a_worker_raises(table: dict[str, Any]) -> None:
    found = profile_of(table, "", on_gpu=True)
    assert all(0 <= one["share_ratio"] <= 1 for one in found["kernels"])


def test_a_floor_is_the_larger_of_its_two_times() -> None:
    cost = Cost(flops=1e12, io_bytes=4_200_000_000, weight_bytes=0)
    assert floor.floor_of(cost, H200, "fp32").compute_ms == pytest.approx(20.0)
    assert floor.floor_of(cost, H200, "fp32").memory_ms == pytest.approx(1.0)
    assert floor.floor_of(cost, H200, "bf16").ms == pytest.approx(1.25)
    assert floor.floor_of(cost, H200, "bf16").side == "compute"


def test_weights_may_be_packed_in_a_coarser_class_and_inputs_may_not() -> None:
    cost = Cost(flops=0, io_bytes=100, weight_bytes=1000)
    assert cost.bytes_moved("fp32") == 1100
    assert cost.bytes_moved("bf16") == 600


def test_what_holds_a_candidate_back_is_named_only_near_the_floor() -> None:
    memory = Floor(memory_ms=1.0, compute_ms=0.5)
    assert floor.fields(memory, 1.2, launch_bound=False)["bound"] == "memory"
    assert floor.fields(memory, 5.0, launch_bound=False)["bound"] == "unknown"
    assert floor.fields(memory, 1.2, launch_bound=True)["bound"] == "launch"


def test_facts_survive_being_kept_and_others_are_measured_again() -> None:
    assert facts.from_json(H200.to_json()) == H200
    for record in (None, {}, {"device": "x"}, {**H200.to_json(), "version": 0}, "text"):
        assert facts.from_json(record) is None


def test_a_cpu_is_measured_and_its_bandwidth_is_no_nonsense() -> None:
    found = facts.measure("cpu")
    assert 1e8 < found.copy_bytes_per_s < 1e13
    assert found.bandwidth >= found.read_bytes_per_s
    assert found.matrix_rate("fp32")
    assert found.launch_us > 0
