"""What follows for a session from what a machine has."""

from __future__ import annotations

import pytest

from workbench import machine
from workbench.errors import CannotGoOn, WrongUsage
from workbench.machine import Machine, Row

CPU_ONLY = Machine(
    (
        Row("torch", "ok", "2.13.0+cpu, CPU only"),
        Row("triton", "ok", "found beside torch"),
        Row("c++", "ok", "g++ 12"),
        Row("gpu", "warning", "no NVIDIA GPU", "candidates run on the CPU"),
    )
)
TWO_GPUS = Machine(
    (
        Row("torch", "ok", "2.11.0, CUDA 13.0"),
        Row("triton", "ok", "found beside torch"),
        Row("c++", "ok", "g++ 12"),
        Row("nvcc", "ok", "nvcc 13.0"),
        Row("cuda:0", "ok", "NVIDIA H200"),
        Row("cuda:1", "ok", "NVIDIA H200"),
    )
)


def names(found: Machine, on: str) -> list[str]:
    """The languages offered."""
    return [language.name for language in machine.languages(found, on)]


def test_auto_takes_the_first_gpu_else_the_processor() -> None:
    assert machine.device(TWO_GPUS, "auto") == "cuda:0"
    assert machine.device(TWO_GPUS, "cuda") == "cuda:0"
    assert machine.device(CPU_ONLY, "auto") == "cpu"


def test_a_gpu_without_a_torch_that_can_use_it_is_none() -> None:
    found = Machine(
        (Row("torch", "ok", "2.13.0+cpu, CPU only"), Row("cuda:0", "ok", "NVIDIA H200"))
    )
    assert machine.device(found, "auto") == "cpu"


def test_a_device_that_is_not_here_is_refused_with_those_that_are() -> None:
    with pytest.raises(WrongUsage, match="cuda:0, cuda:1, cpu"):
        machine.device(TWO_GPUS, "cuda:2")
    with pytest.raises(WrongUsage, match="no NVIDIA GPU"):
        machine.device(CPU_ONLY, "cuda:0")


def test_languages_are_those_that_build_here_cheapest_first() -> None:
    everything = [
        "nvrtc",
        "triton",
        "extern-c",
        "stable-abi",
        "torch-library",
        "load-inline",
        "pytorch",
    ]
    assert names(TWO_GPUS, "cuda:0") == everything
    assert names(CPU_ONLY, "cpu") == [
        "extern-c",
        "stable-abi",
        "torch-library",
        "load-inline",
        "pytorch",
    ]


def test_without_a_compiler_plain_pytorch_is_left() -> None:
    assert names(Machine((Row("torch", "ok", "2.13.0+cpu, CPU only"),)), "cpu") == ["pytorch"]


def test_a_missing_compiler_is_told_at_the_start_with_its_remedy() -> None:
    bare = Machine((Row("c++", "warning", "no C++ compiler", "install g++"),))
    assert machine.lacking(bare, "cpu") == (
        "some candidates cannot be built here: no C++ compiler; install g++."
    )
    assert machine.lacking(CPU_ONLY, "cpu") == ""
    assert machine.lacking(TWO_GPUS, "cuda:1") == ""


def test_a_machine_without_torch_is_refused_with_the_remedy() -> None:
    found = Machine((Row("interpreter", "missing", "python has no torch", "install torch"),))
    with pytest.raises(CannotGoOn, match="install torch"):
        machine.check(found)


def test_a_strict_sandbox_that_cannot_hold_is_refused_and_a_weaker_one_is_told() -> None:
    found = Machine(
        (Row("sandbox bwrap", "warning", "bwrap is not installed", "install bubblewrap"),)
    )
    with pytest.raises(CannotGoOn, match=r"install bubblewrap.*best-effort"):
        machine.check_sandbox(found, "strict")
    assert "weaker sandbox" in machine.check_sandbox(found, "best-effort")
    walled = Machine((Row("sandbox bwrap", "ok", "works, all probes pass"),))
    assert machine.check_sandbox(walled, "strict") == ""


def test_this_machine_can_be_looked_at() -> None:
    found = machine.look()
    assert found.has("torch")
    assert machine.device(found, "cpu") == "cpu"
