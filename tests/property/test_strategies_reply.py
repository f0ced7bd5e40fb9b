"""Any text at all, read as ideas and as a candidate."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.fixing import Unusable
from strategies.ideas import IDEA_LENGTH, ideas
from strategies.python import defines
from strategies.reply import SOURCE_LIMIT, Found, candidate, change

PIECES = st.sampled_from(
    [
        "```",
        "```python\n",
        "~~~\n",
        "class ModelNew:\n    pass\n",
        "# change: x\n",
        '"""\n',
        "- one\n",
        "  deeper\n",
        "1) two\n",
        "* **three**\n",
        '["four", {"a": "five"}]\n',
        "[",
        "{",
        "<think>",
        "</think>",
        "\n",
        "\n\n",
        "\r\n",
        "\0",
        "\ud800",
        "    ",
        "(((",
        "\\",
    ]
)
TEXT = st.one_of(
    st.text(max_size=400),
    st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40).map("".join),
)


@settings(deadline=None)
@given(TEXT, st.integers(0, 20))
def test_ideas_of_any_text_are_at_most_ten_distinct_printable_lines(text: str, limit: int) -> None:
    found = ideas(text, limit)
    assert len(found) <= min(limit, 10)
    assert len(set(found)) == len(found)
    assert all(0 < len(idea) <= IDEA_LENGTH and idea.isprintable() for idea in found)


@settings(deadline=None)
@given(TEXT, st.booleans())
def test_a_candidate_of_any_text_can_be_stored_or_says_what_was_wrong(
    text: str, cut_off: bool
) -> None:
    match candidate(text, cut_off):
        case Found(source):
            assert not cut_off
            assert defines(source)
            assert len(source.encode()) > 0
            assert len(source) <= SOURCE_LIMIT + 1
            assert candidate(source) in (Found(source), candidate(f"```\n{source}```"))
        case Unusable(fault):
            assert fault.endswith(".")


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200).filter(lambda after: "```" not in after))
def test_a_good_block_is_found_whatever_is_written_after_it(before: str, after: str) -> None:
    source = "# change: x\nclass ModelNew:\n    pass\n"
    prose = "".join(c for c in before if c.isalnum() or c == " ")
    trailing = "".join(c for c in after if c.isalnum() or c == " ")
    assert candidate(f"{prose}\n```python\n{source}```\n{trailing}") == Found(source)


@settings(deadline=None)
@given(TEXT)
def test_the_change_line_of_any_text_is_one_line(text: str) -> None:
    assert "\n" not in change(text)
