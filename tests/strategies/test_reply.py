"""A candidate out of a model's text: one test for each rule of the design's table."""

import pytest

from strategies.fixing import Unusable
from strategies.reply import SOURCE_LIMIT, Found, candidate, change

GOOD = "# change: less\nclass ModelNew:\n    pass\n"
OTHER = "# change: more\nclass ModelNew:\n    pass\n"


def block(source: str, language: str = "python", fence: str = "```") -> str:
    return f"{fence}{language}\n{source}{fence}\n"


def fault(text: str, cut_off: bool = False) -> str:
    reply = candidate(text, cut_off)
    assert isinstance(reply, Unusable)
    return reply.fault


def test_the_file_is_taken_out_of_its_block() -> None:
    assert candidate(f"Here it is.\n\n{block(GOOD)}\nDone.") == Found(GOOD)


@pytest.mark.parametrize("language", ["", "py", "python3", "Python"])
def test_the_language_of_the_fence_does_not_matter(language: str) -> None:
    assert candidate(block(GOOD, language)) == Found(GOOD)


def test_tildes_and_longer_fences_are_fences() -> None:
    assert candidate(block(GOOD, fence="~~~")) == Found(GOOD)
    assert candidate(block(GOOD, fence="````")) == Found(GOOD)


def test_the_last_complete_block_that_defines_the_class_wins() -> None:
    helper = block("x = 1\n")
    assert candidate(block(GOOD) + "better:\n" + block(OTHER) + helper) == Found(OTHER)


def test_a_fence_inside_a_string_does_not_end_the_block() -> None:
    source = '# change: x\n"""\n```python\ncode\n```\n"""\nclass ModelNew:\n    pass\n'
    assert candidate(block(source)) == Found(source)


def test_a_fence_within_a_line_is_no_fence() -> None:
    source = '# change: x\nNOTE = "```"\nclass ModelNew:\n    pass\n'
    assert candidate(block(source)) == Found(source)


def test_a_block_of_another_language_before_is_passed_over() -> None:
    cpp = block("int f() { return 1; }\n", "cpp")
    assert candidate(cpp + "then\n" + block(GOOD)) == Found(GOOD)


def test_a_block_that_was_never_closed_before_the_next_opens_is_passed_over() -> None:
    assert candidate("```cpp\nint f();\n" + block(GOOD)) == Found(GOOD)
    assert candidate("```python\nx = 1\n" + block(GOOD)) == Found(GOOD)


def test_without_a_fence_the_whole_text_counts_if_it_is_such_a_file() -> None:
    assert candidate(GOOD) == Found(GOOD)
    assert "no complete Python file" in fault("class ModelNew is what I would write.")
    assert "no complete Python file" in fault("x = 1\n")


def test_a_file_with_a_syntax_error_goes_to_the_evaluator() -> None:
    broken = "# change: x\nclass ModelNew:\n    def f(self:\n"
    assert candidate(block(broken)) == Found(broken)


def test_a_file_that_parses_comes_before_a_later_one_that_does_not() -> None:
    broken = "class ModelNew:\n    def f(self:\n"
    assert candidate(block(GOOD) + block(broken)) == Found(GOOD)


def test_a_reply_cut_off_by_the_vendor_is_not_evaluated() -> None:
    assert "shorter" in fault(block(GOOD), cut_off=True)


def test_an_open_block_without_a_complete_one_is_cut_off() -> None:
    assert "shorter" in fault(f"```python\n{GOOD}")
    assert candidate(block(GOOD) + "```python\nimport") == Found(GOOD)


@pytest.mark.parametrize("text", ["", "   \n", "I cannot do that.", block("x = 1\n")])
def test_nothing_usable_asks_for_the_whole_file(text: str) -> None:
    assert "whole file" in fault(text)


def test_a_file_over_the_limit_is_not_evaluated() -> None:
    assert "100,000" in fault(block(GOOD + "#" * SOURCE_LIMIT + "\n"))
    assert "100,000" in fault("x" * 1_000_001)


@pytest.mark.parametrize(
    "source",
    [
        "class Base:\n    pass\n\n\nModelNew = Base\n",
        "def ModelNew():\n    return None\n",
        "import torch\nif torch:\n    class ModelNew:\n        pass\n",
        "try:\n    class ModelNew:\n        pass\nexcept ImportError:\n    pass\n",
    ],
)
def test_the_class_may_come_by_other_ways_than_a_class_statement(source: str) -> None:
    assert candidate(block(source)) == Found(source)


def test_a_model_that_thinks_aloud_is_heard_after_it_has_thought() -> None:
    assert candidate(f"<think>\n{block(OTHER)}</think>\n{block(GOOD)}") == Found(GOOD)


def test_windows_line_ends_are_plain_ones() -> None:
    assert candidate(block(GOOD).replace("\n", "\r\n")) == Found(GOOD)


def test_a_lone_surrogate_cannot_reach_storage() -> None:
    reply = candidate(block(GOOD + "# \ud800\n"))
    assert isinstance(reply, Found)
    assert reply.source.encode()


@pytest.mark.parametrize("text", ["(" * 50_000, "-" * 100_000 + "1", "\0", "\\d = '\\d'\n" + GOOD])
def test_hostile_python_is_no_exception(text: str) -> None:
    candidate(block(text + "\n"))


def test_the_first_line_says_what_changes() -> None:
    assert change(GOOD) == "less"
    assert change("\n#Change:  two words \nx = 1") == "two words"
    assert change("x = 1") == ""
    assert change("") == ""
