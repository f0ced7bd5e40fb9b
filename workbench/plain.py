"""Foreign text made inert: what a model, a compiler or a kernel wrote may be shown, never obeyed.

| in the text | shown as |
| --- | --- |
| C0 controls but tab and newline, DEL | their visible symbols (`␛`, `␀`, `␡`) |
| C1 controls, bidi controls, line and paragraph separators, lone surrogates | U+FFFD |

Nothing of Textual is imported here, so that plain commands use it too. Stored data stays as it came.
"""

from __future__ import annotations

from typing import NewType

Inert = NewType("Inert", str)
"""Text that cannot change the terminal, nor the order in which it is read."""

_LOST = "\ufffd"
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TABLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), _LOST),
    **dict.fromkeys(_BIDI, _LOST),
    **dict.fromkeys((0x2028, 0x2029), _LOST),
    **dict.fromkeys(range(0xD800, 0xE000), _LOST),
}
_ONE_LINE: dict[int, str] = {**_TABLE, ord("\n"): "\u2424", ord("\t"): " "}


def inert(text: str) -> Inert:
    """Return the text without anything a terminal or a reader's eye would obey; tabs and newlines stay."""
    return Inert(text.translate(_TABLE))


def inert_line(text: str, limit: int = 0) -> Inert:
    """Return the text inert and on one line, cut to `limit` characters (0: not cut) with an ellipsis."""
    line = text.translate(_ONE_LINE)
    return Inert(line if not limit or len(line) <= limit else f"{line[: limit - 1]}…")


def first_line(text: str, limit: int = 0) -> Inert:
    """Return the first line that says something, inert."""
    lines = (line.strip() for line in text.splitlines())
    return inert_line(next((line for line in lines if line), ""), limit)
