"""Lines of inert text: the only way in which this program paints text, so nothing foreign is ever parsed.

A `Line` is a tuple of spans; a span is inert text and a *tone*, the name of a colour token in `styles/tones.tcss`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from workbench.glyphs import ASCII, UNICODE
from workbench.plain import Inert, inert_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.app import App
    from textual.dom import DOMNode
    from textual.widget import Widget

TONES = (
    "dim", "strong", "accent", "better", "worse", "warn", "busy", "best", "head", "key", "tab", "tab-on",
    "cursor", "cursor-away", "bar", "added", "removed", "added-word", "removed-word", "gutter", "match",
    "code-keyword", "code-string", "code-number", "code-comment", "code-name", "code-type",
)  # fmt: skip
"""Every colour token a span may name."""

TONE_CLASSES = frozenset(f"tone--{tone}" for tone in TONES)

_ONE_CELL = str.maketrans(
    {
        **{UNICODE.sessions[word]: sign for word, sign in ASCII.sessions.items()},
        **{UNICODE.verdicts[word]: sign for word, sign in ASCII.verdicts.items()},
        **dict(zip("★×–−│─→≈·▸▾⋮⋯␤▐•█µ←↑↓", "*x--|->~.>v::||*#u<^v", strict=True)),
        "±": "+-",  # `~` beside it says that it is not confirmed; no column depends on it
    }
)


class Span(NamedTuple):
    """Text in one tone."""

    text: Inert
    tone: str = ""


Line = tuple[Span, ...]

EMPTY: Line = ()
NO_TEXT = Inert("")


def span(text: str, tone: str = "") -> Span:
    """Return a span of the product's own words; foreign text goes through `plain.inert` instead."""
    return Span(Inert(text), tone)


def plain_text(line: Line) -> str:
    """Return the characters of a line."""
    return "".join(part.text for part in line)


def cells_of(text: str) -> int:
    """Return how many cells a text takes; Rich looks at every character, which ASCII does not need."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(line: Line) -> int:
    """Return how many cells a line takes."""
    return sum(cells_of(part.text) for part in line)


def fit(text: str, width: int, *, right: bool = False) -> Inert:
    """Return inert text in exactly `width` cells: cut with an ellipsis, or padded."""
    if width <= 0:
        return Inert("")
    cells = cells_of(text)
    if cells > width:
        return Inert(set_cell_size(text, width - 1) + "…")
    blank = " " * (width - cells)
    return Inert(blank + text if right else text + blank)


def spread(left: Line, right: Line, width: int) -> Line:
    """Return a line with one part at each end; the right one goes first where there is no room."""
    gap = width - width_of(left) - width_of(right)
    return left if gap < 1 else (*left, span(" " * gap), *right)


def joined(lines: Iterable[Line], separator: Span) -> Line:
    """Return the lines as one, with the separator between those that hold anything."""
    found: list[Span] = []
    for line in lines:
        if line:
            found += [separator, *line] if found else line
    return tuple(found)


def cut(parts: Sequence[Line], width: int, separator: Span) -> Line:
    """Return the parts that fit, from the left; one too long makes room for those after it."""
    kept: list[Line] = []
    for part in parts:
        if part and (not kept or width_of(joined([*kept, part], separator)) <= width):
            kept.append(part)
    return joined(kept, separator)


def flow(parts: Sequence[Line], width: int, separator: Span) -> list[Line]:
    """Return the parts side by side, on as many lines as they need."""
    rows: list[list[Line]] = []
    for part in parts:
        if rows and width_of(joined([*rows[-1], part], separator)) <= width:
            rows[-1].append(part)
        else:
            rows.append([part])
    return [joined(row, separator) for row in rows]


def wrap(line: Line, width: int, hang: int = 0) -> list[Line]:
    """Return a line broken after `width` cells, at a space where there is one in the last third.

    `hang`: cells by which what follows the first row is moved in.
    """
    rows: list[Line] = []
    rest, indent = line, span(" " * hang)
    while width_of(rest) > width > hang:
        head, rest = _split(rest, _break_at(plain_text(rest), width, hang if rows else 0))
        rows.append(head)
        rest = (indent, *rest) if hang else rest
    return [*rows, rest]


def ascii_only(text: str) -> str:
    """Return the text in ASCII, one character for one cell (two for ±), for a locale that carries no more."""
    text = text.translate(_ONE_CELL)
    if text.isascii():
        return text
    return "".join(c if c.isascii() else "?" * cell_len(c) for c in text)


def _break_at(text: str, width: int, hang: int) -> int:
    """Return how many characters go into a row: more than it is moved in by, or the rest would never end."""
    end = len(set_cell_size(text, width).rstrip("\0"))
    while end > 1 and cell_len(text[:end]) > width:
        end -= 1
    space = text.rfind(" ", max(end * 2 // 3, hang), end)
    return space + 1 if space > 0 else max(hang + 1, end)


def _split(line: Line, at: int) -> tuple[Line, Line]:
    head: list[Span] = []
    tail: list[Span] = []
    for part in line:
        if at >= len(part.text):
            head.append(part)
        elif at > 0:
            head.append(Span(Inert(part.text[:at]), part.tone))
            tail.append(Span(Inert(part.text[at:]), part.tone))
        else:
            tail.append(part)
        at -= len(part.text)
    return tuple(head), tuple(tail)


def app_of(node: DOMNode) -> App[object]:
    """Return the application of a widget or screen, by a type without holes."""
    return node.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportReturnType] - Textual leaves it open


def is_ascii(node: DOMNode) -> bool:
    """Return whether the locale carries ASCII only."""
    return app_of(node).has_class("-ascii")


def write_border(widget: Widget, *, upper: Inert | None = None, lower: Inert | None = None) -> None:
    """Write into a widget's border, inert, in ASCII where the locale carries no more; only if it changes.

    Textual paints a whole widget again on every assignment, and reads a plain string as markup.
    """
    for name, text in (("border_title", upper), ("border_subtitle", lower)):
        if text is None:
            continue
        words = inert_line(text)
        if is_ascii(widget):
            words = Inert(ascii_only(words))
        shown = Content(words)
        if getattr(widget, name) != shown.markup:
            setattr(widget, name, shown)
