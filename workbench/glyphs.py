"""State to glyph and word, in Unicode and in ASCII: never a glyph without its word, never a colour alone."""

from __future__ import annotations

import locale
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.model import AttemptRecord

NEEDS_YOU = "needs you"

SESSION_WORDS = (
    "running",
    "waiting",
    NEEDS_YOU,
    "pausing",
    "paused",
    "finished",
    "stopped",
    "crashed",
)
"""Every state of a session, as shown."""

VERDICT_WORDS = (
    "correct",
    "suspect",
    "wrong",
    "rejected",
    "error",
    "timeout",
    "unavailable",
    "running",
)
"""Every verdict, as shown; one the viewer does not know is shown by its own name."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs."""

    sessions: Mapping[str, str]
    """By a word of `SESSION_WORDS`."""
    verdicts: Mapping[str, str]
    """By a word of `VERDICT_WORDS`."""
    best: str
    times: str
    ellipsis: str
    none: str
    """Where there is no number."""
    bar: str
    arrow: str

    def session(self, word: str) -> str:
        """Return the glyph of a session's state; a blank for one it does not know."""
        return self.sessions.get(word, " ")

    def verdict(self, word: str) -> str:
        """Return the glyph of a verdict; a blank for one it does not know."""
        return self.verdicts.get(word, " ")


UNICODE = Glyphs(
    sessions=dict(zip(SESSION_WORDS, "●◌▲‖‖✓■✗", strict=True)),
    verdicts=dict(zip(VERDICT_WORDS, "✓?!⊘✗✗○…", strict=True)),
    best="★",
    times="×",
    ellipsis="…",
    none="–",
    bar="│",
    arrow="→",
)
ASCII = Glyphs(
    sessions=dict(zip(SESSION_WORDS, "*.^==+#x", strict=True)),
    verdicts=dict(zip(VERDICT_WORDS, "+?!#xxo.", strict=True)),
    best="*",
    times="x",
    ellipsis="...",
    none="-",
    bar="|",
    arrow="->",
)

_ASCII_FOR = str.maketrans(
    {
        **{glyph: ASCII.sessions[word] for word, glyph in UNICODE.sessions.items()},
        **{glyph: ASCII.verdicts[word] for word, glyph in UNICODE.verdicts.items()},
        "★": "*",
        "×": "x",
        "…": "...",
        "–": "-",
        "−": "-",
        "±": "+-",
        "│": "|",
        "─": "-",
        "→": "->",
        "≈": "~",
        "·": "-",
    }
)


def glyphs(encoding: str | None = None) -> Glyphs:
    """Return the signs that an encoding (by default the locale's) can carry."""
    return UNICODE if is_unicode(encoding) else ASCII


def is_unicode(encoding: str | None = None) -> bool:
    """Return whether an encoding (by default the locale's) carries all our signs."""
    name = encoding or locale.getencoding()
    return name.lower().replace("-", "").replace("_", "") in {"utf8", "utf16", "utf32", "gb18030"}


def to_ascii(text: str) -> str:
    """Return the text with our own signs spelled in ASCII; anything else foreign becomes `?`."""
    return text.translate(_ASCII_FOR).encode("ascii", "replace").decode("ascii")


def word(attempt: AttemptRecord) -> str:
    """Return how an attempt is called: a word of `VERDICT_WORDS`, or its kind's own name."""
    if not attempt.kind:
        return "running"
    return "suspect" if attempt.suspect else attempt.kind
