"""Ideas out of a model's text: the first form that yields any."""

import json

import pytest

from strategies.ideas import IDEA_LENGTH, ideas


def test_a_json_array_comes_first() -> None:
    assert ideas('Sure:\n["one", "two"]\n- not this') == ("one", "two")


def test_a_json_array_inside_a_fence_is_found() -> None:
    assert ideas('```json\n[\n  "one",\n  "two"\n]\n```') == ("one", "two")


def test_objects_of_an_array_become_text() -> None:
    text = json.dumps([{"title": "Fuse", "why": "less traffic", "rank": 1}, "two", 3, None])
    assert ideas(text) == ("Fuse: less traffic", "two")


def test_an_array_of_numbers_is_no_list_of_ideas() -> None:
    assert ideas("[64, 128]\n1. use these tiles") == ("use these tiles",)


def test_a_broken_array_is_passed_over() -> None:
    assert ideas('["one", \n\n* two') == ("two",)


@pytest.mark.parametrize("marker", ["-", "*", "+", "•", "1.", "1)", "12."])
def test_every_marker_of_a_list_opens_an_item(marker: str) -> None:
    assert ideas(f"Ideas:\n{marker} one\n{marker} two\n") == ("one", "two")


def test_an_item_goes_on_over_deeper_lines_and_the_line_below() -> None:
    text = "1. Fuse\n   the loops\n\n   - in Triton\n2. Use\nbf16\n\nThese are all."
    assert ideas(text) == ("Fuse the loops - in Triton", "Use bf16")


def test_items_under_headings_are_items() -> None:
    assert ideas("### 1. Fuse\nall of it\n\n### 2. Half\n") == ("Fuse all of it", "Half")


def test_markup_and_duplicates_are_dropped() -> None:
    text = "- **Fuse** the `relu`\n- *Fuse* the relu\n- call `__syncthreads()` less\n- **\n---\n"
    assert ideas(text) == ("Fuse the relu", "call __syncthreads() less")


def test_paragraphs_serve_where_there_is_no_list() -> None:
    assert ideas("Some ways:\n\nFuse all\nloops.\n\nUse bf16.") == ("Fuse all loops.", "Use bf16.")


def test_lines_serve_where_there_is_one_paragraph() -> None:
    assert ideas("Fuse all loops.\nUse bf16.") == ("Fuse all loops.", "Use bf16.")


def test_at_most_ten_are_kept_and_fewer_where_asked() -> None:
    many = "\n".join(f"{i}. idea number {i}" for i in range(1, 31))
    assert len(ideas(many)) == 10
    assert ideas(many, 3) == ("idea number 1", "idea number 2", "idea number 3")
    assert len(ideas(many, 99)) == 10


@pytest.mark.parametrize("text", ["", "\n\n", "---\n***", "- \n- **", "[]", "\0"])
def test_nothing_yields_nothing(text: str) -> None:
    assert ideas(text) == ()


def test_an_idea_is_one_printable_line_of_bounded_length() -> None:
    (idea,) = ideas("- a\x1b[31mb\u202ec\n  " + "d" * 5_000)
    assert len(idea) <= IDEA_LENGTH
    assert idea.isprintable()


def test_thoughts_are_not_ideas() -> None:
    assert ideas("<think>\n- no\n</think>\n- yes") == ("yes",)


@pytest.mark.parametrize("text", ["[" * 100_000, "\ud800- x", "[" + "1" * 10_000 + "]"])
def test_hostile_text_is_no_exception(text: str) -> None:
    assert len(ideas(text)) <= 10
