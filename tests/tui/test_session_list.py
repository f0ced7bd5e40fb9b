"""The session list by its keys."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sessions.folder import SessionFolder
from sessions.journal import Reader
from tests.tui.looking import listed, live, press, settled, shown, until
from workbench.screens.live import LiveScreen
from workbench.screens.session_list import SessionListScreen
from workbench.widgets.document import plain_text
from workbench.widgets.session_rows import SessionTable, session_row, wants

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Stage

SIZES = ((160, 44), (110, 34), (80, 24), (60, 16))


@pytest.mark.parametrize("size", SIZES)
async def test_sessions_that_need_you_come_first_at_every_size(
    stage: Stage, size: tuple[int, int]
) -> None:
    async with stage.app(on_list=True).run_test(size=size) as pilot:
        await settled(pilot)
        assert [row.key for row in listed(pilot).table.rows] == ["gpt-block", "attn-2", "scan-1"]
        assert "▲ needs you" in shown(pilot)
        assert "✓ finished" in shown(pilot)


def test_columns_never_touch() -> None:
    row = session_row(
        {
            "id": "a-rather-long-name-of-a-session",
            "state": "running",
            "best_speedup": 11.41,
            "best_class": "tf32_fp16",
            "best_confirmed": False,
            "queries": 100,
            "queries_limit": 300,
            "cost_usd": 0.0022,
            "cost_limit_usd": 10,
        }
    )
    told = plain_text(SessionTable().line(row, 78))
    assert "100/300  0.0022/10" in told
    assert "11.4~ tf32/fp16 " in told or "11.41~ tf32/fp16 " in told


async def test_the_selected_session_says_what_it_needs(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        told = " ".join(shown(pilot).split())
        assert (
            "gpt-block asks: c13 is suspect and above the best. enter look at its verdict" in told
        )
        await press(pilot, "j")
        told = " ".join(shown(pilot).split())
        assert "attn-2 needs you: the key in OPENAI_API_KEY was refused. p goes on, once" in told


async def test_the_top_line_tells_the_gpus_and_what_was_spent_today(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho '0, NVIDIA H200, 87, 61, 41984, 143771'\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: "GPU0 H200 87 % 61 °C 41/140 GiB" in shown(pilot), 30)
        assert "today $ 1.09" in shown(pilot)
        assert "2 searches running" in shown(pilot)


def test_a_crashed_session_says_how_it_goes_on() -> None:
    told = plain_text(wants(session_row({"id": "attn", "state": "crashed"})))
    assert told == "attn: its engine is gone, and nothing else is lost. p starts another"


async def test_enter_opens_a_session_and_escape_comes_back_to_it(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "j", "j", "enter")
        assert live(pilot).folder.name == "scan-1"
        await press(pilot, "escape")
        row = listed(pilot).table.selected
        assert row is not None
        assert row.key == "scan-1"


async def test_from_an_attached_session_the_list_and_back_leads_to_the_same_screen(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        first = live(pilot)
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionListScreen))
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, LiveScreen))
        assert pilot.app.screen is first


async def test_pause_is_asked_of_the_selected_session(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "p")
        assert [c.act for c in stage.asked()] == ["pause"]


async def test_stop_asks_first(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "x", "escape")
        assert stage.asked() == []
        await press(pilot, "x", "x")
        assert [c.act for c in stage.asked()] == ["stop"]


async def test_a_filter_keeps_the_sessions_it_names(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await press(pilot, "slash", *"finished")
        assert " finished" in shown(pilot).splitlines()[-1], (
            "the line in which one types is not seen"
        )
        await press(pilot, "enter")
        assert [row.key for row in listed(pilot).table.rows] == ["scan-1"]
        await press(pilot, "escape")
        assert len(listed(pilot).table.rows) == 3


async def test_a_damaged_journal_is_a_row_and_says_why(stage: Stage) -> None:
    broken = stage.root / "sessions/broken"
    broken.mkdir()
    (broken / "journal.db").write_bytes(b"not a database, certainly" * 100)
    async with stage.app(on_list=True).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "G")
        row = listed(pilot).table.selected
        assert row is not None
        assert (row.key, row.word) == ("broken", "unreadable")
        await press(pilot, "enter")
        assert "broken: cannot read" in " ".join(shown(pilot).split())


async def test_an_empty_folder_says_how_to_begin(stage: Stage, tmp_path: Path) -> None:
    app = stage.app(on_list=True)
    app._under = tmp_path / "nothing"  # pyright: ignore[reportPrivateUsage]
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        told = " ".join(shown(pilot).split())
        assert "No sessions yet. n starts one; d runs the demo, no key needed." in told


async def test_new_sessions_appear_by_themselves(stage: Stage) -> None:
    async with stage.app(on_list=True).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        source = SessionFolder(stage.root / "sessions/scan-1")
        target = stage.root / "sessions/scan-2"
        target.mkdir()
        (target / "journal.db").write_bytes(source.journal.read_bytes())
        with Reader(target / "journal.db") as reader:
            assert reader.summary()
        await until(pilot, lambda: len(listed(pilot).table.rows) == 4)
