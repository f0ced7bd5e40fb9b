"""The worked kernels for a GPU, compiled by nvcc where there is one: their syntax, without a GPU."""

from __future__ import annotations

import ast
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.strategies.test_examples import shown

if TYPE_CHECKING:
    from pathlib import Path

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="no nvcc here")
LIGHT = ("nvrtc", "extern-c")
"""Those that include nothing of torch's."""
CUDA = {title: source for title, source in shown("cuda").items() if "__global__" in source}
IMPLICIT = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"
"""What `load_inline` puts before a CUDA source that names functions."""
LIMIT_S = 900


def kernel_text(source: str) -> str:
    """The value of SOURCE."""
    (found,) = (
        node.value.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "SOURCE"
        and isinstance(node.value, ast.Constant)
    )
    assert isinstance(found, str)
    return found


def compiled(source: str, folder: Path) -> str:
    """What nvcc says against a source; nothing if it compiles."""
    from torch.utils.cpp_extension import include_paths

    text = kernel_text(source)
    file = folder / "kernel.cu"
    file.write_text(text if "functions=" not in source else IMPLICIT + text, encoding="utf-8")
    assert NVCC is not None
    words = [NVCC, "-std=c++20", "-arch=sm_90", "-c", str(file), "-o", str(folder / "kernel.o")]
    words += [f"-I{path}" for path in include_paths()]
    words += [flag for flag in ("-DTORCH_TARGET_VERSION=0x020b000000000000",) if flag in source]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return ran.stdout + ran.stderr if ran.returncode else ""


@needs_nvcc
@pytest.mark.torch
@pytest.mark.parametrize("title", [title for title in CUDA if title.startswith(LIGHT)])
def test_a_kernel_for_a_gpu_compiles(title: str, tmp_path: Path) -> None:
    assert compiled(CUDA[title], tmp_path) == ""


@needs_nvcc
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("title", [title for title in CUDA if not title.startswith(LIGHT)])
def test_a_kernel_with_torchs_headers_compiles(title: str, tmp_path: Path) -> None:
    assert compiled(CUDA[title], tmp_path) == ""
