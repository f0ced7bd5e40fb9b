"""Light stand-ins for torch's heaviest headers, put before them on the include path: the author's text stays as it is.

| instead of `torch/extension.h` | when the text | CPU seconds of one small file (g++ 12) |
| --- | --- | --- |
| tensors, a few dozen operators | binds nothing to Python and calls no other operator | 5 |
| the same, and the bindings | calls no other operator | 10 |
| all operators, the bindings | names nothing of the C++ frontend | 15 |
| the real one | else, or when a stand-in does not do | 26 |

Classes and functions are torch's own, so the compiled code is the same; what a stand-in lacks does not compile, and
then the real header is taken.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BARE, LIGHT, WHOLE = "bare", "light", "whole"

_OPERATORS_TEXT = """
abs add addmm amax amin arange as_strided bmm cat clamp clone contiguous copy_ cumsum div empty
empty_like empty_strided exp eye fill from_blob full full_like gelu index_select linear log matmul
max mean min mm mul narrow neg ones ones_like pad permute rand randn randn_like relu reshape rsqrt
scalar_tensor sigmoid silu softmax split sqrt squeeze stack sub sum tanh tensor transpose unsqueeze
var view where zeros zeros_like
"""
_OPERATORS = tuple(_OPERATORS_TEXT.split())
_NO_HEADER = frozenset(("from_blob", "tensor"))
"""Operators whose headers have another name, or come with another."""
_OTHER_NAMES_TEXT = """
Tensor TensorOptions Scalar ScalarType Device Layout parallel_for get_num_threads device dtype
wrap_pybind_function IntArrayRef Half BFloat16 nullopt optional List Dict NoGradGuard
set_num_threads OptionalTensorRef CheckedFrom divup parallel_reduce get_thread_num
in_parallel_region
"""
_OTHER_NAMES = frozenset(_OTHER_NAMES_TEXT.split())
_CALLED = re.compile(r"\b(?:torch|at)::(?!cuda\b|native\b)(\w+)\s*(\(|::|<)?")
_HEAVY = re.compile(
    r"\b(?:torch::(?:nn|optim|data|jit|autograd|serialize|save|load|python|indexing|linalg|fft|special|sparse)\b"
    r"|TORCH_MODULE|at::(?:linalg|_ops|native)\b|_out\s*\()"
)
_BINDS = re.compile(r"PYBIND11|\bpy::|pybind|\bTHP|\bPyObject")
_LIBRARY = re.compile(
    r"\bTORCH_LIBRARY|\btorch::(?:Library|schema|dispatch|class_)\b|\bc10::Dispatcher\b"
)

_DTYPES_TEXT = """
kUInt8 kByte kInt8 kChar kInt16 kShort kInt32 kInt kInt64 kLong kFloat16 kHalf kFloat32 kFloat
kFloat64 kDouble kU8 kByte kI8 kChar kI16 kShort kI32 kInt kI64 kLong kF16 kHalf kF32 kFloat kF64
kDouble
"""
_DTYPES = tuple(_DTYPES_TEXT.split())


def fit(text: str) -> str | None:
    """Return the name of the lightest stand-in that a source can do with, or None."""
    if "torch/extension.h" not in text and "torch/types.h" not in text:
        return None
    if _HEAVY.search(text) or re.search(
        r"#\s*include\s*<torch/(?!extension\.h|types\.h|library\.h)", text
    ):
        return None
    names = {name for name, _ in _CALLED.findall(text) if not re.fullmatch(r"k[A-Z]\w*", name)}
    if _LIBRARY.search(text) or not names <= {*_OTHER_NAMES, *_OPERATORS}:
        return WHOLE
    return LIGHT if _BINDS.search(text) else BARE


def digest() -> str:
    """Return a digest of the stand-ins."""
    return hashlib.sha256((_BARE + _EXTENSION + _light_types()).encode()).hexdigest()


def write(folder: Path) -> None:
    """Write the stand-ins into a folder: `light/torch/…` and `whole/torch/…`."""
    for name, types in ((BARE, _light_types()), (LIGHT, _light_types()), (WHOLE, None)):
        place = folder / name / "torch"
        place.mkdir(parents=True, exist_ok=True)
        (place / "extension.h").write_text(_BARE if name == BARE else _EXTENSION, encoding="utf-8")
        if types is not None:
            (place / "types.h").write_text(types, encoding="utf-8")


_BARE = """#ifndef PIKE_EXTENSION_H
#define PIKE_EXTENSION_H
#include <torch/types.h>
#include <ATen/Parallel.h>
#endif
"""
_EXTENSION = """#ifndef PIKE_EXTENSION_H
#define PIKE_EXTENSION_H
#include <torch/types.h>
#include <ATen/Parallel.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#endif
"""


def _light_types() -> str:
    headers = "\n".join(
        f"#if __has_include(<ATen/ops/{name}.h>)\n#include <ATen/ops/{name}.h>\n#endif"
        for name in (
            *(n.rstrip("_") for n in _OPERATORS if n not in _NO_HEADER),
            "from_blob",
            "tensor",
        )
    )
    pairs = zip(_DTYPES[::2], _DTYPES[1::2], strict=True)
    names = "\n".join(
        f"constexpr auto {mine} = at::{theirs};" for mine, theirs in pairs if mine != theirs
    )
    return f"""#ifndef PIKE_TYPES_H
#define PIKE_TYPES_H
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
{headers}
#include <optional>
namespace torch {{
using namespace at;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
{names}
}}
#endif
"""
