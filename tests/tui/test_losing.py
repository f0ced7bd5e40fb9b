"""Losing things while the live screen is open: the engine, the folder, the journal, the clock; two viewers at once."""

from __future__ import annotations

import json
import logging
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from sessions.attention import Attention
from sessions.folder import SessionFolder
from sessions.journal import Journal, Reader
from tests.tui import journals
from tests.tui.looking import live, press, settled, shown, told, until
from workbench.app import PikeApp
from workbench.banner_words import NEXT, needs_words
from workbench.keymap import Keymap
from workbench.screens.live import LiveScreen

if TYPE_CHECKING:
    from sessions.model import State
    from tests.tui.conftest import Stage

WIDE, NARROW = (160, 44), (80, 24)


async def test_the_banner_names_cause_and_key(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert (
            "gpt-block asks: c13 is suspect and above the best.  X bans the selected one"
            in shown(pilot)
        )


@pytest.mark.parametrize("code", [*NEXT, "one_of_a_newer_version"])
def test_every_cause_has_its_words(code: str) -> None:
    words = needs_words("s", Attention(stopped=True, cause="why", code=code), Keymap().key_of)
    assert words.startswith("▲ s needs you: why.")
    assert (code in NEXT) == (len(words) > len("▲ s needs you: why."))


def test_a_changed_key_is_named_in_the_banner() -> None:
    needs = Attention(stopped=False, cause="80 % of the queries are used", code="budget")
    words = needs_words("s", needs, Keymap({"live.budget": "W"}).key_of)
    assert words.endswith("W Budget")


async def test_a_session_whose_folder_is_taken_away_says_so_and_stays(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        shutil.rmtree(stage.folder.path)
        await until(pilot, lambda: "is gone: it was moved or deleted" in shown(pilot))
        await press(pilot, "j", "s", "escape")
        assert isinstance(pilot.app.screen, LiveScreen)
        assert "3 c28" in shown(pilot)


async def test_a_folder_that_comes_back_is_no_longer_called_gone(stage: Stage) -> None:
    away = stage.root / "away"
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        stage.folder.path.rename(away)
        await until(pilot, lambda: "is gone" in shown(pilot))
        away.rename(stage.folder.path)
        await until(pilot, lambda: "is gone" not in shown(pilot))


async def test_a_journal_that_breaks_is_said_once_and_logged_once(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        feed = live(pilot).feed
        assert feed is not None
        feed.close()
        with caplog.at_level(logging.ERROR):
            await until(pilot, lambda: "cannot show" in shown(pilot))
            for _ in range(10):
                live(pilot)._tick()  # pyright: ignore[reportPrivateUsage] - as the timer does
                await pilot.pause()
        assert sum("cannot show" in record.message for record in caplog.records) == 1
        await press(pilot, "escape")
        assert "cannot show" not in shown(pilot)
        assert isinstance(pilot.app.screen, LiveScreen)


async def test_an_engine_that_dies_is_noticed_and_p_offers_another(stage: Stage) -> None:
    app = stage.app()
    async with app.run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "● running" in shown(pilot)
        app.now = lambda: stage.at + 60
        (stage.folder.path / "engine.lock").write_text("")
        await until(pilot, lambda: "stopped: no engine is heard. p starts one" in shown(pilot))
        assert "COA-1 writing" not in shown(pilot)


async def test_a_silent_engine_is_told_from_its_heartbeat(stage: Stage) -> None:
    app = stage.app()
    app.now = lambda: stage.at + 60
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "✗ crashed engine not responding since" in shown(pilot)


async def test_a_search_without_an_evaluator_waits_and_says_how_long(stage: Stage) -> None:
    journal = await Journal.open(stage.folder.journal, wal=True)
    await journal.live(stage.at, {"waits_for": "no evaluator here", "heartbeat": stage.at})
    await journal.close()
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        top = shown(pilot).splitlines()[0]
        assert "◌ waiting no evaluator here · 4 s" in top
        assert "q 29/300" in top


async def test_a_finished_search_goes_on_with_p_once_its_budget_is_raised(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[SessionFolder] = []

    def start(folder: SessionFolder, found: State) -> int:
        """Start no process for a made-up search."""
        del found
        started.append(folder)
        return 0

    monkeypatch.setattr("workbench.renewing.start", start)
    folder = SessionFolder(stage.root / "sessions/scan-1")
    app = PikeApp(folder, now=lambda: stage.at + 4, wanted_theme="dark")
    async with app.run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "p")
        assert "B raises its budget; then p again" in told(pilot)
        await press(pilot, "B", "ctrl+u", *"400", "ctrl+j")
        await until(pilot, lambda: "budget is kept: no engine runs; p starts one" in told(pilot))
        await until(pilot, lambda: "budget asked" in shown(pilot))
        await press(pilot, "p")
        await until(pilot, lambda: started)
    with Reader(folder.journal) as reader:
        assert [c.act for c in reader.waiting_commands()] == ["budget", "resume"]


def on_another_host(stage: Stage) -> None:
    lock = stage.folder.lock
    found = json.loads(lock.read_text())
    lock.write_text(json.dumps(found | {"host": "gpu-box-7"}))


async def test_a_session_of_another_host_is_read_only_and_names_it(stage: Stage) -> None:
    on_another_host(stage)
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "runs on gpu-box-7: shown read-only here" in " ".join(shown(pilot).split())
        for key in ("p", "P", "s", "f", "z"):
            await press(pilot, key)
            assert isinstance(pilot.app.screen, LiveScreen)
        await press(pilot, "j", "X", "X")
        assert "read-only: the engine of this session runs on another host" in told(pilot)
        assert stage.asked() == []


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
async def test_a_clock_that_jumps_shows_no_negative_time_and_no_error(
    stage: Stage, jump: float
) -> None:
    app = stage.app()
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        app.now = lambda: stage.at + jump
        for _ in range(5):
            live(pilot)._tick()  # pyright: ignore[reportPrivateUsage] - as the timer does
            await pilot.pause()
        assert "cannot show" not in shown(pilot)
        assert re.search(r"(?<!\w)-\d", shown(pilot)) is None


async def test_two_viewers_see_each_others_steers(stage: Stage) -> None:
    first, second = stage.app(), stage.app()
    async with first.run_test(size=NARROW) as one, second.run_test(size=NARROW) as other:
        await settled(one)
        await settled(other)
        await press(one, "j", "X", "X")
        await until(other, lambda: "ban asked" in shown(other))
        [command] = stage.asked()
        args = {**command.args, "candidates": ["c28"]}
        ban = f.Steered("s4", command.id, "ban", args, "ann", applied=True)
        await journals.append(stage.folder.journal, stage.at + 2, [ban])
        await until(one, lambda: "s4 ban is taken up" in told(one))
        await until(other, lambda: "banned · " in shown(other))
        assert "s4 ban is taken up" not in told(other), "only who asked is told"


async def test_a_storm_of_sizes_leaves_a_whole_screen(stage: Stage) -> None:
    sizes = [(160, 44), (60, 16), (110, 34), (40, 10), (80, 24), (200, 60), (99, 33), (140, 34)]
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "j", "plus", "v")
        for width, height in sizes * 3:
            await pilot.resize_terminal(width, height)
        await pilot.resize_terminal(*WIDE)
        await press(pilot, "v")
        assert "3 c27" in shown(pilot)
        assert "2 Attempts" in shown(pilot)


async def test_steering_at_every_size_never_breaks(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"words")
        for size in ((60, 16), (40, 10), (80, 24), (160, 44)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
        assert "words" in shown(pilot)
