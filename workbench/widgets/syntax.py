"""Source text in colour: Python, with CUDA and C++ inside its strings coloured as what they are."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from workbench.plain import Inert, inert
from workbench.widgets.document import LINE_LIMIT, LINES_LIMIT
from workbench.widgets.lines import Line, Span, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COLOURED = 200_000
"""Characters; a longer text is shown plain."""

_NATIVE = ("__global__", "#include", 'extern "C"', "__device__")

_TONES = (
    ("Token.Comment", "code-comment"),
    ("Token.Keyword.Type", "code-type"),
    ("Token.Keyword", "code-keyword"),
    ("Token.Operator.Word", "code-keyword"),
    ("Token.Literal.String", "code-string"),
    ("Token.Literal.Number", "code-number"),
    ("Token.Name.Function", "code-name"),
    ("Token.Name.Class", "code-name"),
    ("Token.Name.Decorator", "code-name"),
    ("Token.Name.Builtin", "code-type"),
)


def source_lines(source: str, limit: int = LINES_LIMIT) -> list[Line]:
    """Return the lines of a Python source in colour; cut with a word about it when there are too many."""
    lines = list(_coloured(source))
    if len(lines) > limit:
        more = (span(f"… {len(lines) - limit:,} more lines; E writes the whole file", "warn"),)
        return [*lines[:limit], more]
    return lines


@lru_cache(maxsize=48)
def _coloured(source: str) -> tuple[Line, ...]:
    """Return every line in colour; kept, since neighbours in a list share parents."""
    text = inert(source)
    return tuple(_broken(_pieces(text) if len(text) <= COLOURED else [(text, "")]))


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield runs of text with their tone; a string that holds a kernel is coloured again as CUDA."""
    from pygments.lexers.c_like import CudaLexer
    from pygments.lexers.python import PythonLexer

    options = {"stripnl": False, "ensurenl": False}
    tokens = ((_tone(str(kind)), value) for kind, value in PythonLexer(**options).get_tokens(text))
    for tone, run in groupby(tokens, key=lambda token: token[0]):
        value = "".join(part for _, part in run)
        if tone == "code-string" and any(sign in value for sign in _NATIVE):
            for kind, inner in CudaLexer(**options).get_tokens(value):
                yield inner, _tone(str(kind))
        else:
            yield value, tone


def _tone(kind: str) -> str:
    return next((tone for name, tone in _TONES if kind.startswith(name)), "")


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
