# pyright: reportPrivateUsage=false
"""Memory that ran out: whose fault it is."""

from __future__ import annotations

import pytest
import torch

from mcp_server.judge import memory
from mcp_server.judge.faults import Fault
from mcp_server.judge.service import _failure

GIB = 2**30


@pytest.mark.parametrize(
    ("error", "short"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 64.00 MiB."), True),
        (MemoryError(), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …"), True),
        (RuntimeError("shapes do not fit"), False),
    ],
)
def test_errors_that_say_there_was_no_memory(error: Exception, short: bool) -> None:
    assert memory.ran_out(error) is short


def gpu(monkeypatch: pytest.MonkeyPatch, *, free: int, mine: int) -> None:
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)

    def info(_device: str) -> tuple[int, int]:
        return free * GIB, 140 * GIB

    def reserved(_device: str) -> int:
        return mine * GIB

    monkeypatch.setattr(torch.cuda, "mem_get_info", info)
    monkeypatch.setattr(torch.cuda, "memory_reserved", reserved)


def test_memory_that_others_hold_is_missed_through_nobodys_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu(monkeypatch, free=10, mine=20)
    with pytest.raises(Fault) as found:
        memory.refuse_crowded(MemoryError(), "cuda:0")
    assert (found.value.status, found.value.code) == ("infra_error", "neighbour_on_gpu")
    assert "110.0 of the GPU's 140.0 GiB" in found.value.cause


def test_who_fills_a_gpu_alone_has_itself_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_host", lambda: {"MemTotal": 100 * GIB, "MemAvailable": 50 * GIB})
    gpu(monkeypatch, free=100, mine=39)
    memory.refuse_crowded(MemoryError(), "cuda:0")


def test_a_host_without_memory_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_host", lambda: {"MemTotal": 100 * GIB, "MemAvailable": GIB})
    with pytest.raises(Fault) as found:
        memory.refuse_crowded(MemoryError(), "cpu")
    assert (found.value.status, found.value.code) == ("infra_error", "worker_lost")


def test_other_errors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu(monkeypatch, free=0, mine=0)
    memory.refuse_crowded(RuntimeError("shapes do not fit"), "cuda:0")


def test_a_task_that_fills_a_machine_by_itself_is_too_large_and_other_faults_are_the_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_host", lambda: {"MemTotal": 100 * GIB, "MemAvailable": 50 * GIB})
    large = _failure(RuntimeError("DefaultCPUAllocator: can't allocate memory"), "cpu")
    assert (large.status, large.code) == ("task_unfit", "too_large")
    other = _failure(ValueError("what we did not think of"), "cpu")
    assert (other.status, other.code) == ("infra_error", "worker_lost")
    monkeypatch.setattr(memory, "_host", lambda: {"MemTotal": 100 * GIB, "MemAvailable": GIB})
    crowded = _failure(RuntimeError("DefaultCPUAllocator: can't allocate memory"), "cpu")
    assert (crowded.status, crowded.code) == ("infra_error", "worker_lost")
