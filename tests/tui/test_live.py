"""The live screen by its keys: what is shown, and what is asked of the engine."""

from __future__ import annotations

import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from sessions.folder import SessionFolder
from tests.tui import journals
from tests.tui.looking import live, press, proposal_of, settled, shown, told, until
from workbench.app import PikeApp
from workbench.screens.choice import Choice
from workbench.screens.session_list import SessionListScreen
from workbench.screens.steer import SteerScreen
from workbench.widgets.steer_fields import GuideBox
from workbench.widgets.steer_list import SteerList

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Stage

WIDE, MEDIUM, NARROW = (160, 44), (110, 34), (80, 24)


async def test_a_session_opens_on_its_newest_attempt(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        row = live(pilot).table.selected
        assert row is not None
        assert row.key == "c29"
        assert "● running 4 s" in shown(pilot)
        assert "best 1.14×" in shown(pilot)
        assert "q 29/300" in shown(pilot)


async def test_moving_down_shows_that_attempt_in_the_detail_pane(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "j")
        assert "3 c27 · COA from c21 · lineage 002" in shown(pilot)
        assert "to parent c21" in shown(pilot)


async def test_every_tab_shows_something_of_its_own(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j")
        words = (
            "hunk 1/",
            "class ModelNew",
            "tokens",
            "Who called what",
            "pike profile",
            "asks strong",
        )
        for word in words:
            assert word in shown(pilot)
            await press(pilot, "]")
        assert "hunk 1/" in shown(pilot)


async def test_the_diff_compares_with_parent_best_and_original_in_turn(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j")
        assert "to parent c15" in shown(pilot)
        await press(pilot, "b")
        assert "to best c25" in shown(pilot)
        await press(pilot, "b")
        assert "to original c0" in shown(pilot)


async def test_n_goes_to_the_next_hunk(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "enter")
        view = live(pilot).detail.view
        before = view.top
        await press(pilot, "n")
        assert view.top > before
        assert view.top in (*view.document.stops, view.last_top)
        await press(pilot, "N")
        assert view.top <= before + 1


async def test_at_80_columns_one_pane_is_seen_and_keys_bring_the_others(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        for key, title in (
            ("1", "1 Lineages"),
            ("3", "3 c29"),
            ("4", "4 Agents"),
            ("2", "2 Attempts"),
        ):
            await press(pilot, key)
            assert title in shown(pilot)
        assert "1 Lineages" not in shown(pilot)


async def test_escape_goes_back_from_the_detail_to_the_attempts_to_the_sessions(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "enter")
        assert "Diff" in shown(pilot)
        await press(pilot, "escape")
        assert "2 Attempts" in shown(pilot)
        await press(pilot, "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionListScreen))


async def test_selection_survives_a_resize(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "j", "j")
        await pilot.resize_terminal(*NARROW)
        await settled(pilot)
        row = live(pilot).table.selected
        assert row is not None
        assert row.key == "c26"


async def test_pause_is_asked_of_a_running_engine_and_shown_until_taken(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "p")
        assert [(c.act, c.args) for c in stage.asked()] == [("pause", {"now": False})]
        assert stage.asked()[0].seen_seq > 100
        await until(pilot, lambda: "pause asked" in shown(pilot))


async def test_p_resumes_a_paused_session(stage: Stage) -> None:
    await journals.append(stage.folder.journal, stage.at + 1, [f.Paused("asked", "asked", "ann")])
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "‖ pausing 2 queries, 1 evaluation finishing" in shown(pilot)
        assert "p Resume" in shown(pilot)
        await press(pilot, "p")
        assert [c.act for c in stage.asked()] == ["resume"]


async def test_pause_now_and_pause_are_different_commands(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "P")
        assert [(c.act, c.args) for c in stage.asked()] == [("pause", {"now": True})]


@pytest.mark.parametrize(("key", "now"), [("x", False), ("X", True)])
async def test_stop_asks_first_and_offers_now(stage: Stage, key: str, now: bool) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "x")
        assert isinstance(pilot.app.screen, Choice)
        assert "losing 2 queries in flight" in shown(pilot)
        assert stage.asked() == []
        await press(pilot, key)
        assert [(c.act, c.args) for c in stage.asked()] == [("stop", {"now": now})]


async def test_escape_in_a_question_does_nothing(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "x", "escape")
        await press(pilot, "X", "escape")
        assert stage.asked() == []


async def test_ban_names_the_attempt_under_the_cursor_and_what_descends_from_it(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "X")
        assert "Ban c28" in shown(pilot)
        await press(pilot, "X")
        want = {"candidate": "c28", "subtree": True, "off": False}
        assert [(c.act, c.args) for c in stage.asked()] == [("ban", want)]


async def test_a_guide_is_sent_with_scope_and_duration(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "s")
        assert isinstance(pilot.app.screen, SteerScreen)
        await press(
            pilot, *"fp16", "shift+tab", "right", "right", "shift+tab", "right", "right", "ctrl+j"
        )
        want = {"text": "fp16", "scope": "candidate:c28", "last": 10}
        assert [(c.act, c.args) for c in stage.asked()] == [("guide", want)]


async def test_escape_keeps_a_guide_as_a_draft(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s", *"half", "escape")
        assert stage.asked() == []
        await press(pilot, "s")
        assert pilot.app.screen.query_one(GuideBox).text == "half"


async def test_steers_are_listed_with_what_became_of_them_and_can_be_withdrawn(
    stage: Stage,
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "s")
        rows = pilot.app.screen.query_one(SteerList).rows
        assert [(r.key, r.standing) for r in rows] == [
            ("s1", "in force"),
            ("s3", "waiting"),
            ("s2", "refused"),
        ]
        await press(pilot, "tab", "w")
        await until(pilot, stage.asked)
        assert [(c.act, c.args) for c in stage.asked()] == [("withdraw", {"steer": "s1"})]


async def test_z_withdraws_the_newest_steer_that_waits(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "z")
        assert [(c.act, c.args) for c in stage.asked()] == [("withdraw", {"steer": "s3"})]


async def test_a_filter_keeps_what_it_names_and_escape_drops_it(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        all_of_them = len(live(pilot).table.rows)
        await press(pilot, "slash")
        assert "lineage:003  any word" in shown(pilot), "the line in which one types is not seen"
        await press(pilot, *"correct >1.05x")
        assert " correct >1.05x" in shown(pilot).splitlines()[-1]
        await press(pilot, "enter")
        rows = live(pilot).table.rows
        assert 0 < len(rows) < all_of_them
        assert all(row.word == "correct" and (row.ratio or 0) > 1.05 for row in rows)
        assert f"{len(rows)} of {all_of_them} attempts · correct >1.05x" in shown(pilot)
        await press(pilot, "escape")
        assert len(live(pilot).table.rows) == all_of_them


async def test_slash_in_a_text_finds_words(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "enter", "]", "slash", *"forward", "enter")
        view = live(pilot).detail.view
        assert view.top > 0
        assert "def forward" in shown(pilot)


async def test_new_facts_appear_and_are_followed(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        made = f.AttemptMade(
            "c40", "c28", proposal_of(pilot, "c28"), 1, "003", "0" * 64, "", "ext", "from outside"
        )
        await journals.append(stage.folder.journal, stage.at + 2, [made])
        await until(pilot, lambda: len(live(pilot).table.rows) == 29)
        row = live(pilot).table.selected
        assert row is not None
        assert row.key == "c40"


async def test_a_moved_cursor_stays_on_its_attempt_when_new_ones_come(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "j")
        made = f.AttemptMade(
            "c40", "c28", proposal_of(pilot, "c28"), 1, "003", "0" * 64, "", "ext", "from outside"
        )
        await journals.append(stage.folder.journal, stage.at + 2, [made])
        await until(pilot, lambda: len(live(pilot).table.rows) == 29)
        row = live(pilot).table.selected
        assert row is not None
        assert row.key == "c27"
        await press(pilot, "t")
        assert live(pilot).table.cursor == 0


async def test_leaving_a_running_search_says_that_it_goes_on(stage: Stage) -> None:
    app = stage.app()
    async with app.run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "ctrl+c")
        assert "The search goes on without this window." in shown(pilot)
        assert "pike attach gpt-block" in shown(pilot)
        await press(pilot, "escape")
        assert live(pilot).is_current
        await pilot.press("q", "enter")
    assert app.return_value == 0
    assert stage.asked() == []


async def test_leaving_can_pause_first(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await pilot.press("q", "p")
    assert [c.act for c in stage.asked()] == ["pause"]


async def test_leaving_a_paused_search_does_not_say_that_it_goes_on(stage: Stage) -> None:
    asked = f.Paused("paused by ada", "asked", "ada")
    await journals.append(stage.folder.journal, stage.at + 1, [asked])
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "pausing" in shown(pilot)
        await press(pilot, "q")
        assert "The search is paused" in shown(pilot)
        assert "Pause, then leave" not in shown(pilot)
        await pilot.press("x")
    assert [c.act for c in stage.asked()] == ["stop"]


async def test_a_finished_session_is_left_at_once(stage: Stage) -> None:
    end = f.Finished("all 300 queries are used", "queries")
    await journals.append(stage.folder.journal, stage.at + 1, [end])
    app = stage.app()
    async with app.run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "✓ finished all 300 queries are used" in shown(pilot)
        await pilot.press("q")
    assert app.return_value == 0


async def test_a_session_without_an_engine_shows_no_agents_and_p_tries_to_start_one(
    stage: Stage,
) -> None:
    (stage.folder.path / "engine.lock").write_text("")
    app = stage.app()
    app.now = lambda: stage.at + 3_600
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "■ stopped no engine runs it: p starts one" in shown(pilot)
        assert "no agent at work" not in shown(pilot)
        assert "COA-1 writing" not in shown(pilot)


async def test_a_paused_engine_that_needs_you_says_why_in_the_banner(stage: Stage) -> None:
    refused = f.Paused("the key in OPENAI_API_KEY was refused", "bad_key")
    await journals.append(stage.folder.journal, stage.at + 1, [refused])
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "▲ needs you" in shown(pilot)
        assert "gpt-block needs you: the key in OPENAI_API_KEY was refused" in shown(pilot)
        top = shown(pilot).splitlines()[0]
        assert "best" in top
        assert " q " in top, "the cause leaves room for what was found and spent"


async def test_p_resumes_a_session_that_paused_by_itself(stage: Stage) -> None:
    full = f.Paused("the disk is full", "disk_full")
    await journals.append(stage.folder.journal, stage.at + 1, [full])
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        assert "p Resume" in shown(pilot)
        await press(pilot, "p")
        await until(pilot, stage.asked)
    assert [c.act for c in stage.asked()] == ["resume"]


async def test_each_cause_rings_once_and_the_title_names_the_session(stage: Stage) -> None:
    said: list[str] = []
    app = stage.app()
    app.announcer.write = said.append
    async with app.run_test(size=NARROW) as pilot:
        await settled(pilot)
        refused = f.Paused("the key in OPENAI_API_KEY was refused", "bad_key")
        await journals.append(stage.folder.journal, stage.at + 1, [refused])
        await until(pilot, lambda: "▲ needs you" in shown(pilot))
        await settled(pilot)
    assert "▲ gpt-block needs you" in said[1]
    assert said.count("\a") == 2, "once for the suspect above the best, once for the key"


async def test_the_chart_fills_the_screen_and_changes_its_axis(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "v")
        assert "best so far, by queries" in shown(pilot)
        assert "2 Attempts" not in shown(pilot)
        await press(pilot, "u")
        assert "best so far, by dollars" in shown(pilot)
        await press(pilot, "escape")
        assert "2 Attempts" in shown(pilot)


async def test_lineages_fold_and_open_their_attempts(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "1", "j")
        tree = live(pilot).query_one("#lineages")
        before = len(getattr(tree, "rows", ()))
        await press(pilot, "h")
        assert len(getattr(tree, "rows", ())) < before
        await press(pilot, "l", "j", "enter")
        assert "3 c2 " in shown(pilot)


async def test_copying_writes_a_private_file_and_promises_nothing(
    stage: Stage, tmp_path: Path
) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "y")
        assert "sent to the terminal's clipboard, saved as" in told(pilot)
        assert pilot.app.clipboard == "c28"
    saved = tmp_path / "last-copy.txt"
    assert saved.read_text() == "c28"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600


async def test_writing_a_candidate_never_overwrites(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "E", "E")
    first, second = tmp_path / "gpt-block-c28.py", tmp_path / "gpt-block-c28-2.py"
    assert "class ModelNew" in first.read_text()
    assert first.read_text() == second.read_text()


async def test_in_a_diff_the_patch_is_written_and_applies(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "enter", "E")
        feed = live(pilot).feed
        assert feed is not None
        child = feed.state.attempts["c28"]
        before = feed.text(feed.state.attempts[child.parent].source_key)
        after = feed.text(child.source_key)
    (tmp_path / "candidate.py").write_text(before)
    apply(tmp_path / "gpt-block-c28.patch", tmp_path)
    assert (tmp_path / "candidate.py").read_text() == after


def apply(patch: Path, folder: Path) -> None:
    """Apply a patch with git."""
    words = ["git", "apply", "--unsafe-paths", "-p0", str(patch)]
    subprocess.run(words, check=True, cwd=folder)


async def test_below_sixty_columns_one_line_names_the_plain_command(stage: Stage) -> None:
    async with stage.app().run_test(size=(54, 12)) as pilot:
        await settled(pilot)
        words = " ".join(shown(pilot).split())
        assert words == "Too small (54×12). Enlarge, or use `pike tail gpt-block --follow`."


async def test_at_sixty_by_sixteen_state_best_money_and_queries_survive(stage: Stage) -> None:
    async with stage.app().run_test(size=(60, 16)) as pilot:
        await settled(pilot)
        first = shown(pilot).splitlines()[0]
        for word in ("● running", "best 1.14×", "$ 0.68/10", "q 29/300"):
            assert word in first


async def test_a_journal_of_a_newer_version_is_named_in_the_banner(stage: Stage) -> None:
    import sqlite3

    db = sqlite3.connect(stage.folder.journal)
    db.execute("UPDATE meta SET value='99' WHERE key='version'")
    db.commit()
    db.close()
    async with stage.app().run_test(size=WIDE) as pilot:
        await until(pilot, lambda: "update pike to open it" in " ".join(shown(pilot).split()))


async def test_before_the_first_attempt_the_screen_says_what_goes_on(stage: Stage) -> None:
    folder = SessionFolder(stage.root / "sessions/young")
    folder.path.mkdir()
    opened = journals.opened("young")
    await journals.append(folder.journal, stage.at, [opened], [journals.ORIGINAL])
    app = PikeApp(folder, now=lambda: stage.at + 4, wanted_theme="dark")
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "no attempt yet: the original is measured first" in shown(pilot)
        assert "3 c0 · the original" in shown(pilot)
        assert "class Model(nn.Module)" in shown(pilot)


async def test_a_filter_that_keeps_nothing_says_so(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "slash", *">99x", "enter")
        assert "no attempt is like that; esc drops the filter" in shown(pilot)


async def test_the_chart_alone_fills_a_tall_screen_without_a_tty(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "v")
        lines = shown(pilot).splitlines()
        (axis,) = [n for n, line in enumerate(lines) if line.split()[1:3] == ["0", "10"]]
        assert axis >= WIDE[1] - 5, "plotext cut it to 24 lines"
        assert "by queries · dots: other correct attempts · ticks: failures" in shown(pilot)
        await press(pilot, "escape")
        assert "ticks: failures" not in shown(pilot)


async def test_where_there_is_room_the_best_is_also_said_over_eager(stage: Stage) -> None:
    for size, seen in ((WIDE, True), (NARROW, False)):
        async with stage.app().run_test(size=size) as pilot:
            await settled(pilot)
            assert ("× eager)" in shown(pilot).splitlines()[0]) is seen
