"""Attempts and sessions side by side, by their keys."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.folder import SessionFolder
from tests.tui import journals, looking
from tests.tui.looking import listed, live, press, settled, shown, until
from tests.tui.test_hostile import obeyed
from workbench.screens.compare import CompareScreen
from workbench.screens.compare_sessions import CompareSessionsScreen
from workbench.widgets.overlay_chart import OverlayChart

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

SIZES = ((160, 44), (110, 34), (80, 24), (60, 16))


async def compared(pilot: Pilot[Any], folder: SessionFolder, *ids: str) -> CompareScreen:
    """Open the comparison of some attempts, and wait until it is read."""
    await settled(pilot)
    screen = CompareScreen(folder, ids)
    await pilot.app.push_screen(screen)
    await until(pilot, lambda: "verdict" in shown(pilot) or "!" in shown(pilot))
    await settled(pilot)
    return screen


def told(pilot: Pilot[Any]) -> str:
    return " ".join(shown(pilot).replace("│", " ").split())


@pytest.mark.parametrize("size", SIZES)
async def test_the_table_the_sentence_and_the_diff_are_seen(
    stage: Stage, size: tuple[int, int]
) -> None:
    async with stage.app(on_list=True).run_test(size=size) as pilot:
        await compared(pilot, stage.folder, "c3", "c25")
        text = told(pilot)
        assert "over eager 5.62× 5.57–5.68 9.54× 9.45–9.64" in text
        if size[1] > 20:
            assert "c25 is faster than c3: their intervals over eager are apart" in text
            assert "Measured 17 min apart. R times them again" in text
            assert "Diff c3 → c25" in text
            assert "# change: half the shared memory of c24" in text


async def test_marked_attempts_of_the_live_screen_are_compared_and_esc_comes_back(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        first = live(pilot)
        await press(pilot, "j", "space", "j", "space", "c")
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        assert len(screen.ids) == 2
        await press(pilot, "escape")
        assert live(pilot) is first


async def test_with_three_the_pairs_are_gone_through(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(160, 44)) as pilot:
        await compared(pilot, stage.folder, "c3", "c11", "c25")
        assert "Diff c3 → c25 · 1 of 3" in told(pilot)
        assert "c25 is the fastest" in told(pilot)
        await press(pilot, "]")
        assert "Diff c3 → c11 · 2 of 3" in told(pilot)
        await press(pilot, "[", "[")
        assert "Diff c11 → c25 · 3 of 3" in told(pilot)


async def test_with_two_there_is_no_other_pair_and_it_is_said(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await compared(pilot, stage.folder, "c3", "c25")
        await press(pilot, "right_square_bracket")
        assert "there is no other pair" in looking.told(pilot)


async def test_more_lines_around_a_change_and_fewer(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(160, 60)) as pilot:
        await compared(pilot, stage.folder, "c3", "c25")
        before = told(pilot)
        assert "from torch.utils.cpp_extension" in before
        await press(pilot, "{", "{")
        assert len(told(pilot)) < len(before)


async def test_the_patch_is_written_and_git_applies_it(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        screen = await compared(pilot, stage.folder, "c3", "c25")
        await press(pilot, "E", "E")
        (work / "c25.py").write_text(_source(screen, "c3"), encoding="utf-8")
    first = work / "gpt-block-c3-c25.patch"
    assert (work / "gpt-block-c3-c25-2.patch").read_text() == first.read_text()
    text = first.read_text().replace("--- c3.py", "--- c25.py")
    words = ["git", "apply", "-p0", "-"]
    done = await asyncio.to_thread(
        subprocess.run, words, input=text.encode(), cwd=work, check=False
    )
    assert done.returncode == 0
    assert (work / "c25.py").read_text() == _source(screen, "c25")


def _source(screen: CompareScreen, name: str) -> str:
    return screen._sources[name]  # pyright: ignore[reportPrivateUsage] - what it read


async def test_measuring_again_without_the_device_says_why(stage: Stage) -> None:
    """The session ran on cuda:0; what the evaluator answers here without one stands in the banner."""
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        stage.folder.task.mkdir()
        (stage.folder.task / "softmax.py").write_text(journals.ORIGINAL, encoding="utf-8")
        screen = await compared(pilot, stage.folder, "c3", "c25")
        await pilot.press("R")
        assert "measuring again" in told(pilot)
        await until(pilot, lambda: not _measures(screen), 60)
        await pilot.pause()
        assert "! measuring again gave no verdicts" in told(pilot)
        await press(pilot, "escape")
        assert "gave no verdicts" not in told(pilot)
        assert screen.is_current


def _measures(screen: CompareScreen) -> bool:
    return screen.work is not None


async def test_numbers_measured_again_stand_beside_the_recorded_ones(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        screen = await compared(pilot, stage.folder, "c3", "c25")
        again = {
            "c3": journals.verdict_of(0.86, "fp32"),
            "c25": {"status": "runtime_error", "code": "call_raised"},
        }
        screen._measured(again, "")  # pyright: ignore[reportPrivateUsage] - as the evaluator answers
        await settled(pilot)
        text = told(pilot)
        assert "again: speedup 0.86× 0.84–0.88" in text
        assert "again: verdict correct, confirmed error, call_raised" in text
        assert "Measured again, back to back: c3 alone is correct and timed." in text
        assert "These numbers enter no journal." in text
        assert "0.85× 0.83–0.87" in text


async def test_attempts_that_are_not_there_are_told(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await compared(pilot, stage.folder, "c3", "c999")
        assert "cannot compare attempts of gpt-block" in told(pilot)
        await press(pilot, "escape")
        assert listed(pilot).is_current


async def test_hostile_attempts_can_be_compared(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(110, 44)) as pilot:
        await compared(pilot, stage.folder, "c18", "c25")
        assert "[/foo] b [bold]" in told(pilot)
        assert obeyed(shown(pilot).replace("\n", "")) == []


# --- sessions


async def versus(pilot: Pilot[Any], stage: Stage, *names: str) -> CompareSessionsScreen:
    await settled(pilot)
    screen = CompareSessionsScreen([SessionFolder(stage.root / "sessions" / n) for n in names])
    await pilot.app.push_screen(screen)
    await until(
        pilot, lambda: any(c.has_curves for c in screen.query(OverlayChart)) or "!" in shown(pilot)
    )
    await settled(pilot)
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_sessions_and_their_curves_are_seen(stage: Stage, size: tuple[int, int]) -> None:
    async with stage.app(on_list=True).run_test(size=size) as pilot:
        await versus(pilot, stage, "gpt-block", "scan-1")
        text = told(pilot)
        assert "A gpt-block B scan-1" in text
        assert "9.54× 9.45–9.64 6.96× 6.89–7.03" in text
        if size[1] > 20:
            assert "The best of gpt-block is faster than that of scan-1" in text
            assert "by queries" in text


async def test_the_curves_go_over_dollars_and_minutes(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await versus(pilot, stage, "gpt-block", "scan-1")
        await press(pilot, "u")
        assert "by dollars" in told(pilot)
        await press(pilot, "u")
        assert "by minutes" in told(pilot)


async def test_marked_sessions_of_the_list_are_compared(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "c")
        assert listed(pilot).is_current, "nothing is marked yet"
        await press(pilot, "space", "space")
        assert listed(pilot).marked == ["gpt-block", "attn-2"]
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, CompareSessionsScreen)
        await press(pilot, "escape", "space")
        assert listed(pilot).is_current


async def test_without_colours_letters_draw_the_curves(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await versus(pilot, stage, "gpt-block", "scan-1")
        assert "AAA" in shown(pilot)
        assert "BBB" in shown(pilot)


async def other_task(folder: Path) -> None:
    """Record a session like the others, but for its task."""
    made = journals.script(8, hostile=False, session=folder.name)
    first = made.steps[0][1]
    assert isinstance(first[0], f.Opened)
    first[0] = replace(first[0], task_sha256="6" * 64)
    folder.mkdir()  # noqa: ASYNC240 - nothing else runs yet
    await journals.write(folder / "journal.db", made)


async def test_a_session_on_another_task_is_told(stage: Stage) -> None:
    await other_task(stage.root / "sessions/other-1")
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await versus(pilot, stage, "gpt-block", "other-1")
        assert "only sessions on one task can be compared" in told(pilot)


@pytest.mark.parametrize("which", ["attempts", "sessions"])
async def test_an_ascii_locale_gets_ascii_only(stage: Stage, which: str) -> None:
    async with stage.app(on_list=True, unicode=False).run_test(size=(80, 24)) as pilot:
        if which == "attempts":
            await compared(pilot, stage.folder, "c3", "c25")
        else:
            await versus(pilot, stage, "gpt-block", "scan-1")
        assert [c for c in shown(pilot) if not c.isascii()] == []
