"""Source text in colour: Python, with CUDA and C++ inside its strings coloured as what they are.

One regular expression for each language, read once from left to right. Pygments told more kinds of token apart than
there are colours, and took twelve times as long: a long diff stood still for it.
"""

from __future__ import annotations

import keyword
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.plain import Inert, inert
from workbench.widgets.document import LINE_LIMIT, LINES_LIMIT, left_out
from workbench.widgets.lines import Line, Span, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

COLOURED = 200_000
"""Characters; a longer text is shown plain."""

_NATIVE = ("__global__", "#include", 'extern "C"', "__device__")
_NUMBER = (
    r"(?:0[xX][\da-fA-F_']+|0[bB][01_']+|(?:\d[\d_']*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)[\w]*"
)
_WORD = r"(?!\d)\w+"

_QUOTED = r""""(?:[^"\\\n]++|\\[\s\S])*+"?|'(?:[^'\\\n]++|\\[\s\S])*+'?"""
# Nothing is tried twice (`*+`, `++`): a text made for it would else take forever.
_PYTHON = re.compile(
    r"(?P<comment>#[^\n]*)"
    r'|(?P<string>[rRbBuUfF]{0,2}(?:"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+(?:"""|\Z)'
    rf"|'''(?:[^'\\]++|\\[\s\S]|'(?!''))*+(?:'''|\Z)|{_QUOTED}))"
    r"|(?P<name>(?m:^[ \t]*)@[\w.]+|(?<=\bdef )\w+|(?<=\bclass )\w+)"
    rf"|(?P<number>{_NUMBER})|(?P<word>{_WORD})"
)
_CUDA = re.compile(
    r"(?P<comment>//[^\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|(?m:^[ \t]*)#(?:\\\n|[^\n])*+)"
    rf"|(?P<string>{_QUOTED})|(?P<number>{_NUMBER})|(?P<word>{_WORD})"
)
_MARKS = re.compile(r"""\w*("{3}|'{3}|"|')""")
"""What opens a string."""
_TONES = {
    "comment": "code-comment", "string": "code-string", "number": "code-number", "name": "code-name",
}  # fmt: skip


def _toned(keywords: str, types: str) -> dict[str, str]:
    return {
        **dict.fromkeys(types.split(), "code-type"),
        **dict.fromkeys(keywords.split(), "code-keyword"),
    }


_PYTHON_WORDS = _toned(
    " ".join(keyword.kwlist),
    "abs all any bool bytes callable dict divmod enumerate filter float frozenset getattr hasattr int isinstance "
    "issubclass iter len list map max min next object pow print property range repr reversed round set setattr slice "
    "sorted staticmethod classmethod str sum super tuple type zip Exception RuntimeError TypeError ValueError",
)
_CUDA_WORDS = _toned(
    "__global__ __device__ __host__ __shared__ __constant__ __forceinline__ __restrict__ __launch_bounds__ __managed__ "
    "alignas asm auto break case catch class const const_cast consteval constexpr continue decltype default delete do "
    "dynamic_cast else enum explicit extern false for friend goto if inline mutable namespace new noexcept nullptr "
    "operator private protected public register reinterpret_cast restrict return sizeof static static_assert "
    "static_cast struct switch template this throw true try typedef typename union using virtual volatile "
    "while",
    "bool char char2 char4 double double2 float float2 float3 float4 half half2 int int2 int3 int4 int8_t int16_t "
    "int32_t int64_t long short signed size_t uchar4 uint uint2 uint4 uint8_t uint16_t uint32_t uint64_t unsigned void "
    "dim3 __half __half2 __nv_bfloat16 __nv_bfloat162 cudaStream_t threadIdx blockIdx blockDim gridDim warpSize",
)


def source_lines(source: str, limit: int = LINES_LIMIT) -> list[Line]:
    """Return the lines of a Python source in colour; cut with a word about it when there are too many."""
    lines = list(_coloured(source))
    if len(lines) > limit:
        return [*lines[:limit], left_out(len(lines) - limit)]
    return lines


@lru_cache(maxsize=48)
def _coloured(source: str) -> tuple[Line, ...]:
    """Return every line in colour; kept, since neighbours in a list share parents."""
    text = inert(source)
    return tuple(_broken(_python(text) if len(text) <= COLOURED else [(text, "")]))


def _python(text: str) -> Iterator[tuple[str, str]]:
    """Yield runs of text with their tone; a string that holds a kernel is coloured again as CUDA."""
    for run, tone in _runs(_PYTHON, _PYTHON_WORDS, text):
        if tone == "code-string" and any(sign in run for sign in _NATIVE):
            yield from _native(run)
        else:
            yield run, tone


def _native(string: str) -> Iterator[tuple[str, str]]:
    """Yield a Python string as the C++ in it, between its quotes."""
    opening = _MARKS.match(string)
    quotes, start = (opening[1], opening.end()) if opening else ("", 0)
    end = len(string) - (len(quotes) if string.endswith(quotes) else 0)
    yield string[:start], "code-string"
    yield from _runs(_CUDA, _CUDA_WORDS, string[start:end])
    yield string[end:], "code-string"


def _runs(
    language: re.Pattern[str], words: Mapping[str, str], text: str
) -> Iterator[tuple[str, str]]:
    """Yield a text in runs, each with its tone; what has none goes together."""
    at = 0
    for found in language.finditer(text):
        tone = words.get(found[0]) if found.lastgroup == "word" else _TONES[found.lastgroup or ""]
        if tone:
            start, end = found.span()
            if start > at:
                yield text[at:start], ""
            yield text[start:end], tone
            at = end
    if at < len(text):
        yield text[at:], ""


def _broken(pieces: Iterable[tuple[str, str]]) -> Iterator[Line]:
    line: list[Span] = []
    for text, tone in pieces:
        first, *rest = text.split("\n")
        if first:
            line.append(Span(Inert(first), tone))
        for row in rest:
            yield _short(line)
            line = [Span(Inert(row), tone)] if row else []
    yield _short(line)


def _short(line: list[Span]) -> Line:
    length = sum(len(part.text) for part in line)
    if length <= LINE_LIMIT:
        return tuple(line)
    text = "".join(part.text for part in line)[:LINE_LIMIT]
    return Span(Inert(text)), span(f"… {length - LINE_LIMIT:,} more characters", "warn")
