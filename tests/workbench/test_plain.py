"""Foreign text made inert."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from workbench.plain import first_line, inert, inert_line

ANY_TEXT = st.text(st.characters(blacklist_categories=()))
OBEYED = {"Cc", "Cs", "Zl", "Zp"}


@given(ANY_TEXT)
def test_inert_text_holds_nothing_a_terminal_obeys(text: str) -> None:
    for char in inert(text):
        assert char in "\t\n" or unicodedata.category(char) not in OBEYED
        assert unicodedata.bidirectional(char) not in {
            *("LRE", "RLE", "PDF", "LRO", "RLO"),
            *("LRI", "RLI", "FSI", "PDI"),
        }


@given(ANY_TEXT)
def test_making_text_inert_twice_changes_nothing_more(text: str) -> None:
    assert inert(inert(text)) == inert(text)


@given(ANY_TEXT)
def test_inert_text_keeps_its_length_so_columns_and_offsets_hold(text: str) -> None:
    assert len(inert(text)) == len(text)


@given(ANY_TEXT, st.integers(1, 80))
def test_an_inert_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = inert_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_an_escape_sequence_is_shown_as_symbols() -> None:
    assert inert("\x1b]52;c;aGk=\x07") == "␛]52;c;aGk=␇"


def test_a_bidi_override_cannot_reorder_code() -> None:
    assert "\u202e" not in inert("access = 'user\u202e#admin'")


def test_ordinary_code_is_left_as_it_is() -> None:
    code = "def f(x):\n\treturn x[i]  # é, 漢, [/b]\n"
    assert inert(code) == code


def test_the_first_line_is_the_first_that_says_something() -> None:
    assert first_line("\n  \n  ptxas: too much shared data\nmore") == "ptxas: too much shared data"
    assert first_line("") == ""
