"""Two sources beside each other: where there is room or a person wants it, with wide characters and endless lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from tests.tui.looking import live, press, settled, shown, told, until
from workbench.widgets.diff_view import diff_document
from workbench.widgets.document import LINES_LIMIT
from workbench.widgets.lines import plain_text
from workbench.widgets.matching import LineMatcher
from workbench.widgets.syntax import source_lines
from workbench.widgets.text_view import TextView
from workbench.widgets.word_marks import marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

BEFORE = "import torch\nx = 1\n宽字符宽字符宽字符 = 2\nsame = 3\n"
AFTER = "import torch\nx = 7\n宽字符宽字符窄字符 = 2\nmore = 4\nsame = 3\n"


class Viewer(App[None]):
    """One text and nothing else."""

    def compose(self) -> ComposeResult:
        yield TextView(id="text")


async def viewed(pilot: Pilot[Any], before: str, after: str) -> TextView:
    view = pilot.app.query_one(TextView)
    view.show(diff_document(before, after, "parent c1"))
    view.focus()
    await pilot.pause()
    return view


def rows(pilot: Pilot[Any]) -> list[str]:
    return [line.rstrip(" ▐") for line in shown(pilot).splitlines()]


async def test_from_140_cells_the_old_lines_stand_at_the_left_and_the_new_at_the_right() -> None:
    async with Viewer().run_test(size=(142, 20)) as pilot:
        await viewed(pilot, BEFORE, AFTER)
        left, right = zip(*(row.split("│") for row in rows(pilot) if "│" in row), strict=True)
        assert [side.split() for side in left][1] == ["2", "−", "x", "=", "1"]
        assert [side.split() for side in right][1] == ["2", "+", "x", "=", "7"]
        assert left[3].strip() == "", "nothing stands against a line that came"
        assert right[3].split() == ["4", "+", "more", "=", "4"]
        assert len({cell_len(side) for side in left}) == 1, "the line between them is straight"


async def test_below_140_cells_it_is_one_column_until_the_key_is_pressed() -> None:
    async with Viewer().run_test(size=(100, 20)) as pilot:
        view = await viewed(pilot, BEFORE, AFTER)
        assert not view.is_beside
        await pilot.press("S")
        assert view.is_beside
        assert any(row.count("x = ") == 2 for row in rows(pilot))
        await pilot.press("S")
        assert not view.is_beside
        assert "      2 + x = 7" in "\n".join(rows(pilot))


async def test_growing_over_140_cells_goes_to_two_columns_at_the_hunk_that_was_seen() -> None:
    old = [f"line {n}" for n in range(400)]
    new = [f"{line}, changed" if n % 100 == 50 else line for n, line in enumerate(old)]
    async with Viewer().run_test(size=(100, 12)) as pilot:
        view = await viewed(pilot, "\n".join(old), "\n".join(new))
        await pilot.press("n", "n")
        assert "hunk 2/4" in rows(pilot)[0]
        await pilot.resize_terminal(150, 12)
        await until(pilot, lambda: view.is_beside)
        assert "hunk 2/4" in rows(pilot)[0]


async def test_both_sides_scroll_and_their_line_numbers_stay() -> None:
    long = "a" * 200
    async with Viewer().run_test(size=(150, 12)) as pilot:
        await viewed(pilot, f"{long}old\n", f"{long}new\n")
        assert not any("old" in row for row in rows(pilot))
        for _ in range(20):
            await pilot.press("l")
        (row,) = [row for row in rows(pilot) if "old" in row]
        assert row.split()[:2] == ["1", "−"]
        assert "old" in row.split("│")[0]
        assert "new" in row.split("│")[1]


async def test_a_line_of_a_megabyte_stays_on_its_side_and_is_cut_with_a_word() -> None:
    async with Viewer().run_test(size=(150, 12)) as pilot:
        view = await viewed(pilot, "x" * 1_000_000, "宽" * 1_000_000)
        assert all(cell_len(row) <= 150 for row in shown(pilot).splitlines())
        await pilot.press("S", "G")
        assert "998,000 more characters" in "\n".join(plain_text(x) for x in view.document.lines)


async def test_words_are_found_on_both_sides() -> None:
    async with Viewer().run_test(size=(150, 12)) as pilot:
        view = await viewed(pilot, BEFORE, AFTER)
        assert view.search("same = 3") == 1
        assert view.search("x = ") == 1, "one row holds the line of each side"


async def test_what_is_no_diff_says_that_it_has_no_two_sides(stage: Stage) -> None:
    async with stage.app().run_test(size=(160, 44)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "3", "]", "S")
        assert "only a diff has two sides" in told(pilot)
        assert not live(pilot).detail.view.is_beside


def test_more_lines_than_are_shown_name_the_pager_which_gets_them_all() -> None:
    after = "".join(f"line {n}\n" for n in range(LINES_LIMIT + 500))
    found = diff_document("", after, "c0")
    assert found.beside is not None
    for one in (found, found.beside()):
        assert "more lines; L opens all of it in $PAGER" in plain_text(one.lines[-1])
        assert f"\n+line {LINES_LIMIT + 499}\n" in one.paged()


# --- what stands against what

lines_of = st.lists(st.sampled_from(["", "a", "b", "}", "x = 1", "return x"]), max_size=25)


@given(lines_of, lines_of)
def test_every_line_of_both_sources_is_accounted_for_once(old: list[str], new: list[str]) -> None:
    at = (0, 0)
    for kind, i1, i2, j1, j2 in LineMatcher(old, new).get_opcodes():
        assert (i1, j1) == at
        assert (old[i1:i2] == new[j1:j2]) is (kind == "equal")
        at = (i2, j2)
    assert at == (len(old), len(new))


def test_lines_found_once_in_each_are_met_before_brackets_that_are_everywhere() -> None:
    old = ["def f():", "  a", "}", "", "def g():", "  b", "}"]
    new = ["def h():", "  c", "}", "", "def f():", "  a", "}", "", "def g():", "  b", "}"]
    codes = [code for code in LineMatcher(old, new).get_opcodes() if code[0] != "equal"]
    assert codes == [("insert", 0, 0, 0, 4)]


@pytest.mark.parametrize(("old", "new"), [("x = 1", "x = 2"), ("宽 a", "宽 b")])
def test_the_changed_word_is_marked_and_nothing_else(old: str, new: str) -> None:
    left, right = marks([old], [new])
    assert [old[a:b] for a, b in left[0]] == [old[-1]]
    assert [new[a:b] for a, b in right[0]] == [new[-1]]


# --- colour


@given(st.text(alphabet="\"'\\#/*ab1. \n@r", max_size=80), st.sampled_from(["", '"""__global__ ']))
def test_colouring_loses_no_character(text: str, before: str) -> None:
    source = before + text
    assert "\n".join(plain_text(line) for line in source_lines(source)) == source


def tones(source: str) -> dict[str, str]:
    return {part.text.strip(): part.tone for line in source_lines(source) for part in line}


def test_a_kernel_in_a_string_is_coloured_as_cuda_and_the_rest_as_python() -> None:
    found = tones(
        'import torch\nCODE = r"""#include <cuda.h>\n__global__ void f(float* x) {}"""\nn = 3'
    )
    assert found["import"] == found["__global__"] == "code-keyword"
    assert found["#include <cuda.h>"] == "code-comment"
    assert found["float"] == "code-type"
    assert found["3"] == "code-number"
    assert found['r"""'] == "code-string"


HOSTILE: Sequence[str] = (
    "'''" + "a" * 199_000 + "\\",
    '"""__global__ ' + "/*" * 90_000,
    "1e" * 90_000,
    "'\\" * 90_000,
)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE, ids=["string", "comment", "number", "quotes"])
def test_no_source_makes_colouring_try_for_ever(text: str) -> None:
    assert len("\n".join(plain_text(line) for line in source_lines(text))) > 2_000
