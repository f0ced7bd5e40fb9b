"""Registers and stack, read from what nvcc made."""

from __future__ import annotations

import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_server.cubins import usage

if TYPE_CHECKING:
    from pathlib import Path

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
KERNELS = """
extern "C" __global__ void tiny(float* x) { x[threadIdx.x] *= 2.0f; }
extern "C" __global__ void __launch_bounds__(1024, 2) heavy(const float* x, float* y) {
  float a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = x[i * 1024 + threadIdx.x];
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + 3) % 64] + a[(i * 5 + 1) % 64];
#pragma unroll
  for (int i = 0; i < 64; ++i) y[i * 1024 + threadIdx.x] = a[i];
}
"""


@needs_nvcc
@pytest.mark.parametrize("kind", [["-cubin"], ["--shared", "-Xcompiler", "-fPIC"]])
def test_the_worst_kernel_of_an_object_tells_what_the_compiler_printed(
    tmp_path: Path, kind: list[str]
) -> None:
    source, made = tmp_path / "k.cu", tmp_path / "k.out"
    source.write_text(KERNELS)
    argv = ["nvcc", "-arch=sm_90a", *kind, "--resource-usage", str(source), "-o", str(made)]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stderr
    found = usage([made])
    assert f"Used {found.registers_max} registers" in said
    assert f"{found.spill_bytes} bytes stack frame" in said
    assert (found.registers_max, (found.spill_bytes or 0) > 0) == (32, True)


def test_what_is_no_gpu_program_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    found = usage([tmp_path / "empty", tmp_path / "absent"])
    assert (found.registers_max, found.spill_bytes) == (None, None)


FAR = bytes(20) + struct.pack("<Q", 2**63) + bytes(10) + struct.pack("<HHH", 64, 1, 0)
"""A table of sections that begins further than any file is long."""
UNENDED = (
    bytes(20)
    + struct.pack("<Q", 64)
    + bytes(10)
    + struct.pack("<HHH", 64, 1, 0)
    + struct.pack("<II16xQQ", 0, 1, 104, 5)
    + b"names"
)
"""A name that nothing ends."""


@given(st.binary(max_size=400))
@example(FAR)
@example(UNENDED)
def test_no_file_of_a_candidate_upsets_the_reader(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes
) -> None:
    path = tmp_path_factory.mktemp("cubin") / "k.cubin"
    path.write_bytes(b"\x7fELF\x02\x01" + bytes(12) + struct.pack("<H", 190) + noise)
    usage([path])
