"""Processor seconds of compiling one small extension with torch's headers and with the stand-ins before them.

    python -m bench.builds [--out FILE]

Processor seconds, since they hardly depend on what else the machine does. No GPU is needed: nvcc compiles for sm_90a.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sysconfig
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from mcp_server import headers, machine

CPP = """#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  auto out = torch::empty_like(x);
  at::parallel_for(0, x.numel(), 1024, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
  });
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice, "twice"); }
"""
CUDA = """#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void kernel(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
torch::Tensor twice(torch::Tensor x) {
  auto out = torch::empty_like(x);
  kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}
"""
ROWS = ((None, "torch's own"), (headers.WHOLE, "all operators, the bindings"))
CPP_ROWS = (*ROWS, (headers.LIGHT, "common operators, the bindings"))
CUDA_ROWS = (*ROWS, (headers.BARE, "common operators"))


def main() -> None:
    """Compile and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(table(Path(folder)))
    print(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")


def table(folder: Path) -> list[str]:
    """Return the lines of the table."""
    headers.write(folder)
    lines = [f"{machine.cpu().title}, {platform.python_version()}, torch {version('torch')}", ""]
    lines += ["| source | headers | CPU seconds |", "| --- | --- | --- |"]
    lines += [row("C++", name, cpp(folder, kind)) for kind, name in CPP_ROWS]
    once_s = precompile(folder)
    name = f"the same, precompiled (once {once_s:.0f} s)"
    lines.append(row("C++", name, cpp(folder, headers.LIGHT, folder / "ready")))
    if shutil.which("nvcc"):
        lines += [row("CUDA, sm_90a", name, cuda(folder, kind)) for kind, name in CUDA_ROWS]
    return lines


def row(source: str, name: str, seconds: float) -> str:
    """Return a line, and say it at once."""
    print(f"{source}, {name}: {seconds:.1f} s", flush=True)
    return f"| {source} | {name} | {seconds:.1f} |"


def flags() -> list[str]:
    """Return what torch's extension builder passes."""
    spec = find_spec("torch")
    assert spec is not None
    include = Path(str(spec.origin)).parent / "include"
    places = (
        include,
        include / "torch" / "csrc" / "api" / "include",
        sysconfig.get_path("include"),
    )
    return [
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        *(word for place in places for word in ("-isystem", str(place))),
    ]


def cpp(folder: Path, kind: str | None, first: Path | None = None) -> float:
    """Compile the C++ file; `first` is looked into before the stand-in."""
    places = [f"-I{place}" for place in (first, kind and folder / kind) if place]
    words = ["c++", *places, "-DTORCH_EXTENSION_NAME=twice", *flags(), "-fPIC", "-std=c++20", "-O3"]
    return compiled(folder, "main.cpp", CPP, words)


def precompile(folder: Path) -> float:
    """Precompile the lightest stand-in with bindings."""
    place = folder / "ready" / "torch"
    place.mkdir(parents=True)
    shutil.copy(folder / headers.LIGHT / "torch" / "extension.h", place)
    words = ["c++", f"-I{folder / headers.LIGHT}", *flags(), "-fPIC", "-std=c++20", "-O3"]
    header = str(place / "extension.h")
    return timed([*words, "-x", "c++-header", header, "-o", f"{header}.gch"])


def cuda(folder: Path, kind: str | None) -> float:
    """Compile the CUDA file."""
    places = [f"-I{folder / kind}"] if kind else []
    words = ["nvcc", *places, "-DTORCH_EXTENSION_NAME=twice", *flags(), "-Xcompiler", "-fPIC"]
    words += ["-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a"]
    return compiled(folder, "cuda.cu", CUDA, [*words, "--expt-relaxed-constexpr"])


def compiled(folder: Path, name: str, text: str, words: list[str]) -> float:
    """Write a source and compile it."""
    (folder / name).write_text(text, encoding="utf-8")
    return timed([*words, "-c", str(folder / name), "-o", str(folder / "made.o")])


def timed(argv: list[str]) -> float:
    """Return the processor seconds of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
