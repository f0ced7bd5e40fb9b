"""Lines and JSON of the plain commands: data to stdout, talk to stderr, nothing foreign obeyed."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any, TextIO

from workbench.glyphs import is_unicode, to_ascii
from workbench.plain import inert, inert_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class Printer:
    """Where a command's words go. Every line is made inert, whoever wrote it."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out if out is not None else sys.stdout
        self._err = err if err is not None else sys.stderr

    @property
    def on_terminal(self) -> bool:
        """Whether a person sees stdout."""
        return self._out.isatty()

    def data(self, text: str = "") -> None:
        """Print what was asked for."""
        _write(self._out, f"{inert(text)}\n")

    def talk(self, text: str = "") -> None:
        """Print what accompanies the data: progress, hints, refusals."""
        _write(self._err, f"{_folded(inert(text)) if self._err.isatty() else inert(text)}\n")

    def json(self, value: Any) -> None:
        """Print one JSON value on one line (in ASCII, so inert by its escapes)."""
        _write(self._out, json.dumps(value, ensure_ascii=True, allow_nan=False) + "\n")

    def pretty(self, value: Any) -> None:
        """Print one JSON value over several lines."""
        _write(self._out, json.dumps(value, ensure_ascii=True, allow_nan=False, indent=2) + "\n")

    def verbatim(self, text: str) -> None:
        """Print stored text: as it is into a file or a pipe, inert on a terminal."""
        if self.on_terminal:
            self.data(text.rstrip("\n"))
            return
        self._out.flush()
        buffer = getattr(self._out, "buffer", None)
        if buffer is None:
            self._out.write(text)
        else:
            buffer.write(text.encode("utf-8", "surrogatepass"))
            buffer.flush()

    def table(
        self, head: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()
    ) -> None:
        """Print aligned columns; `right` names the heads whose columns are set flush right."""
        body = [[str(inert_line(cell)) for cell in row] for row in rows]
        for line in columns([list(head), *body], [name in right for name in head]):
            self.data(line)


def columns(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Return the rows with aligned columns, two blanks apart."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(right))]
    return ["  ".join(_cells(row, widths, right)).rstrip() for row in rows]


def _folded(text: str) -> str:
    """Break lines between words, at the terminal's width."""
    width = max(40, shutil.get_terminal_size().columns)
    lines = text.splitlines() or [""]
    fill = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False).fill
    return "\n".join(fill(line) if len(line) > width else line for line in lines)


def _cells(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    triples = zip(row, widths, right, strict=True)
    return [cell.rjust(width) if flush else cell.ljust(width) for cell, width, flush in triples]


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    print(text if is_unicode(encoding) else to_ascii(text), end="", file=stream, flush=True)
