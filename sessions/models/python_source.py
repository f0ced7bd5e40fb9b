"""A Python file as text with positions: parsed, searched, spliced. Nothing is ever run."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Splice:
    """Text to put in place of source[start:end]."""

    start: int
    end: int
    text: str


def parse(source: str) -> ast.Module | None:
    """Return the file's syntax tree, or None if it is not Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def names_used(tree: ast.AST) -> set[str]:
    """Return every name and attribute that the code mentions; comments and strings do not count."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found.add(name)
            case ast.keyword(arg=str(name)):
                found.add(name)
            case _:
                pass
    return found


def unused(source: str, stem: str) -> str:
    """Return `stem`, or the first of `stem2`, `stem3`, …, that the file does not hold anywhere."""
    number, name = 1, stem
    while re.search(rf"\b{re.escape(name)}\b", source):
        number += 1
        name = f"{stem}{number}"
    return name


def span(source: str, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return where a node's text starts and ends, in characters."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    starts = _line_starts(source)
    return (
        _offset(source, starts, node.lineno, node.col_offset),
        _offset(source, starts, node.end_lineno, node.end_col_offset),
    )


def splice(source: str, splices: Iterable[Splice]) -> str:
    """Return the text with every splice made; they must not overlap."""
    for part in sorted(splices, key=lambda part: part.start, reverse=True):
        source = source[: part.start] + part.text + source[part.end :]
    return source


def renamed(source: str, old: str, new: str) -> str:
    """Return the file with a name changed wherever it is one; strings and comments stay."""
    starts = _line_starts(source)
    places = [
        starts[token.start[0] - 1] + token.start[1]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.NAME and token.string == old
    ]
    return splice(source, (Splice(place, place + len(old), new) for place in places))


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _offset(source: str, starts: list[int], line: int, byte_column: int) -> int:
    """Return a position in characters; syntax trees count columns in UTF-8 bytes."""
    start = starts[line - 1]
    text = source[start : starts[line]]
    return start + len(text.encode()[:byte_column].decode())
