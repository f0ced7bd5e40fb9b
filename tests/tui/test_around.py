"""Looking around a session: orders, marks, shares of the width, the looks of a diff, profile and log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions import facts as f
from sessions.fold import fold
from tests.tui import journals
from tests.tui.looking import live, press, settled, shown, told, until
from workbench.app import code_of
from workbench.widgets.attempt_order import ORDERS, Sorting
from workbench.widgets.attempt_rows import AttemptRow
from workbench.widgets.diff_view import diff_document, patch, wider
from workbench.widgets.lineage_tree import LineageRows, LineageTree
from workbench.widgets.lines import NO_TEXT, plain_text
from workbench.widgets.profile_view import profile_document

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Stage

WIDE, MEDIUM, NARROW = (160, 44), (110, 34), (80, 24)


def row(key: str, word: str = "correct", ratio: float | None = None, ms: str = "") -> AttemptRow:
    return AttemptRow(key, word, NO_TEXT, NO_TEXT, "", ratio, NO_TEXT, ms, "–", NO_TEXT, NO_TEXT)


ROWS = [
    row("c4", "error"),
    row("c3", "suspect", 9.8, "0.02"),
    row("c2", ratio=1.4, ms="0.17"),
    row("c1", ratio=0.9, ms="0.3"),
]


@pytest.mark.parametrize(
    ("sorting", "keys"),
    [
        (Sorting(), ["c4", "c3", "c2", "c1"]),
        (Sorting(0, reverse=True), ["c1", "c2", "c3", "c4"]),
        (Sorting(1), ["c2", "c1", "c3", "c4"]),
        (Sorting(1, reverse=True), ["c3", "c1", "c2", "c4"]),
        (Sorting(2), ["c3", "c2", "c1", "c4"]),
    ],
)
def test_suspect_numbers_sort_below_believed_ones_and_no_number_last(
    sorting: Sorting, keys: list[str]
) -> None:
    assert [r.key for r in sorting.sort(ROWS)] == keys


def test_after_the_last_order_comes_the_first() -> None:
    sorting = Sorting()
    for _ in ORDERS:
        sorting = sorting.next()
    assert sorting == Sorting()


async def test_o_lists_the_fastest_first_and_capital_o_turns_that_round(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "o")
        assert "fastest first" in shown(pilot)
        assert live(pilot).table.rows[0].key == "c26"
        await press(pilot, "O")
        assert "slowest first" in shown(pilot)
        assert live(pilot).table.rows[-1].ratio is None


async def test_another_order_stops_following_and_t_goes_back_to_the_newest(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "following" in shown(pilot)
        await press(pilot, "o")
        assert "following" not in shown(pilot)
        await press(pilot, "t")
        assert "newest first · following" in shown(pilot)
        assert live(pilot).table.rows[0].key == "c29"


async def test_space_marks_attempts_and_says_how_many(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "space", "j", "space")
        assert "2 marked" in shown(pilot)
        assert "•✓ c28" in shown(pilot)
        await press(pilot, "space")
        assert live(pilot).table.marked == ["c28"]


async def test_marks_stay_on_their_attempts_when_new_ones_come(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "j", "space")
        proposal = live(pilot).feed.state.attempts["c28"].proposal  # pyright: ignore[reportOptionalMemberAccess]
        made = f.AttemptMade("c40", "c28", proposal, 1, "003", "0" * 64, "", "ext", "x")
        await journals.append(stage.folder.journal, stage.at + 2, [made])
        await until(pilot, lambda: len(live(pilot).table.rows) == 29)
        assert "•✓ c28" in shown(pilot)


def width_of_detail(pilot: Pilot[Any]) -> int:
    return live(pilot).detail.size.width


@pytest.mark.parametrize("size", [WIDE, MEDIUM])
async def test_plus_and_underscore_change_the_share_of_the_detail_pane(
    stage: Stage, size: tuple[int, int]
) -> None:
    async with stage.app().run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, "plus", "plus", "plus")
        grown = width_of_detail(pilot)
        assert grown >= size[0] * 0.5
        await press(pilot, *["underscore"] * 6)
        assert width_of_detail(pilot) < grown - 20
        await pilot.resize_terminal(*NARROW)
        await settled(pilot)
        await press(pilot, "3")
        assert width_of_detail(pilot) > 70, "one pane fills the screen"


async def test_at_100_columns_every_tab_is_seen_and_so_is_what_is_banned(stage: Stage) -> None:
    async with stage.app().run_test(size=(100, 34)) as pilot:
        await settled(pilot)
        assert "Diff  Code  Prompt  Verdict  Profile  Log" in shown(pilot)
        feed = live(pilot).feed
        assert feed is not None
        attempt = next(a for a in reversed(feed.state.attempts.values()) if a.correct)
        attempt.banned = True
        live(pilot).paint_rows()
        await pilot.pause()
        (row,) = [line for line in shown(pilot).splitlines() if line.split()[2:3] == [attempt.id]]
        assert "banned" in row


async def test_at_80_columns_there_is_nothing_to_share(stage: Stage) -> None:
    async with stage.app().run_test(size=NARROW) as pilot:
        await settled(pilot)
        await press(pilot, "plus")
        assert "one pane fills the screen here" in told(pilot)


async def test_braces_show_more_and_fewer_unchanged_lines(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, "j", "enter")
        before = len(live(pilot).detail.view.document.lines)
        await press(pilot, "right_curly_bracket")
        more = len(live(pilot).detail.view.document.lines)
        await press(pilot, "left_curly_bracket", "left_curly_bracket", "left_curly_bracket")
        fewer = len(live(pilot).detail.view.document.lines)
        assert fewer < before < more


def test_without_white_space_only_real_changes_are_shown() -> None:
    before, after = "a = 1\nb = 2\n", "a  =  1\nb = 3\n"
    shown_all = "\n".join(map(plain_text, diff_document(before, after, "x").lines))
    aside = diff_document(before, after, "x", whitespace=False)
    shown_some = "\n".join(map(plain_text, aside.lines))
    assert "+2 −2" in shown_all
    assert "+1 −1 · white space aside" in shown_some
    assert aside.copied() == patch(before, after, "x"), "what is copied is the whole patch"


def test_no_context_at_all_makes_no_empty_hunks() -> None:
    found = diff_document("a\nb\nc\n", "a\nB\nc\n", "x", context=0)
    assert len(found.stops) == 1
    assert diff_document("a\n", "a\n", "x", context=0).stops == ()


def test_context_ends_at_the_whole_file_and_at_none() -> None:
    context = 3
    for _ in range(9):
        context = wider(context, 1)
    assert context > 10_000
    for _ in range(9):
        context = wider(context, -1)
    assert context == 0


async def test_a_diff_of_fifteen_hundred_lines_is_whole(stage: Stage) -> None:
    before = "\n".join(f"x{n} = {n}" for n in range(1_500))
    after = before.replace(" = 7", " = 8")
    found = diff_document(before, after, "c1", context=100_000)
    assert len(found.lines) > 1_500


# --- profile


def profile_text(stage: Stage, candidate: str, verdict: dict[str, Any] | None = None) -> str:
    from workbench.feed import load

    state = load(stage.folder)
    if verdict is not None:
        state.attempts[candidate].verdict = verdict
    found = profile_document(state, candidate, stage.folder)
    return "\n".join(map(plain_text, found.lines))


def test_the_profile_says_what_is_left_above_the_machines_floor(stage: Stage) -> None:
    verdict = {"runtime_ms": 1.9, "floor_ms": 1.2, "bound": "memory", "own_share_ratio": 0.75,
               "library_share_ratio": 0.25, "registers_max": 64, "spill_bytes": 0}  # fmt: skip
    text = profile_text(stage, "c28", verdict)
    assert "memory-bound: it waits for data" in text
    assert "at most 1.58× more" in text
    assert "75%" in text
    assert "64 in a thread at most" in text
    assert "spilled              nothing" in text


def test_without_a_profile_the_tab_says_how_to_make_one(stage: Stage) -> None:
    assert "pike profile gpt-block:c28" in profile_text(stage, "c28")
    assert "pike profile gpt-block:c0" in profile_text(stage, "c0")


def test_a_kept_profile_lists_its_kernels_inert(stage: Stage) -> None:
    kernels = [{"name": "a [/foo] \x1b[31m b", "us": 12.5, "calls": 2, "share_ratio": 0.8}]
    kept = {
        "verdict": {"summary": ["memory-bound: 1.9 ms of a 1.2 ms floor"]},
        "profile": {"candidate": {"kernels": kernels, "idle_share_ratio": 0.1}},
    }
    stage.folder.artifacts.mkdir(exist_ok=True)
    (stage.folder.artifacts / "profile-c28.json").write_text(json.dumps(kept))
    text = profile_text(stage, "c28")
    assert "memory-bound: 1.9 ms of a 1.2 ms floor" in text
    assert "80%      12.5      2  a [/foo] ␛[31m b" in text
    assert "the GPU waits        10% of a call" in text


@pytest.mark.parametrize("content", ["", "[]", '{"profile": 3, "verdict": []}', "\x00\xff{"])
def test_a_broken_profile_is_no_profile(stage: Stage, content: str) -> None:
    stage.folder.artifacts.mkdir(exist_ok=True)
    (stage.folder.artifacts / "profile-c28.json").write_text(content, encoding="latin-1")
    assert "Kernel by kernel" in profile_text(stage, "c28")


@pytest.mark.parametrize("value", ["x", None, [1], {"a": 1}, float("nan"), True])
def test_odd_values_in_a_verdict_do_not_break_the_profile(stage: Stage, value: object) -> None:
    names = ("runtime_ms", "floor_ms", "bound", "own_share_ratio", "registers_max", "spill_bytes",
             "peak_memory_bytes", "prepare_ms")  # fmt: skip
    assert "limits" in profile_text(stage, "c28", dict.fromkeys(names, value))


# --- log


async def test_the_log_tells_what_happened_newest_first_and_grows(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, *["]"] * 5)
        assert "What happened, the newest first" in shown(pilot)
        assert "q31 EFA-3 asks strong" in shown(pilot)
        paused = f.Paused("paused by ada", "asked", "ada")
        await journals.append(stage.folder.journal, stage.at + 1, [paused])
        await until(pilot, lambda: "  paused by ada" in shown(pilot))


async def test_the_log_of_a_dead_engine_begins_with_what_the_engine_said(stage: Stage) -> None:
    (stage.folder.path / "engine.lock").write_text("")
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        await press(pilot, *["]"] * 5)
        text = shown(pilot)
        assert text.index("The engine's log") < text.index("What happened")


# --- the top line and the lineages


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_state_best_money_and_queries_are_never_cut_off(stage: Stage, width: int) -> None:
    from workbench.feed import load
    from workbench.shown import Live, Standing
    from workbench.widgets.status_line import status

    state = load(stage.folder)
    standing = Standing("stopped", "no engine runs it: p starts one", silent=True)
    line = status(state, Live(), standing, stage.at, width)
    text = plain_text(line)
    for word in ("■ stopped", "best 1.14×", "bf16", "$ 0.68/10", "q 29/300"):
        assert word in text
    assert len(text) <= width
    assert ("no engine runs it" in text) == (width >= 100)


@pytest.mark.parametrize("level", ["process", "bwrap"])
def test_a_weaker_sandbox_is_said_in_the_top_line(stage: Stage, level: str) -> None:
    from workbench.feed import load
    from workbench.shown import Live, Standing
    from workbench.widgets.status_line import status

    state = load(stage.folder)
    assert state.baseline
    state.baseline.verdict["sandbox_level"] = level
    text = plain_text(status(state, Live(), Standing("running", ""), stage.at, 200))
    assert ("sandbox process" in text) == (level == "process")


@pytest.mark.parametrize(("set_back_s", "told"), [(0, True), (1e6, False)])
def test_a_clock_that_was_set_back_promises_no_end(
    stage: Stage, set_back_s: float, told: bool
) -> None:
    from workbench.feed import load
    from workbench.shown import Live, Standing
    from workbench.widgets.status_line import status

    state = load(stage.folder)
    now = stage.at - set_back_s
    text = plain_text(status(state, Live(), Standing("running", "0 s"), now, 200))
    assert ("left" in text) == told
    assert "best 1.14×" in text


def long_state(trajectories: int) -> Any:
    """Return a session with one long lineage and many short ones."""
    bodies: list[f.Body] = [journals.opened("long")]
    for n in range(1, trajectories + 1):
        lineage = "001" if n <= trajectories - 500 else f"{n:03}"
        proposal: dict[str, Any] = {
            "id": f"p{n}",
            "role": "improve",
            "parent": "c0",
            "idea": None,
            "meta": {},
        }
        bodies += [
            f.Proposed([proposal], {}),
            f.Started(f"p{n}", lineage),
            f.AttemptMade(f"c{n}", "c0", f"p{n}", 0, lineage, "0" * 64, "", "COA", ""),
        ]
    return fold(f.Fact(n, float(n), body) for n, body in enumerate(bodies, 1))


def test_at_most_about_a_thousand_rows_of_lineages_are_shown() -> None:
    state = long_state(3_000)
    rows = LineageRows().rows(state, {"001", "2990", "2991"})
    assert len(rows) < 1_100
    assert [r.number for r in rows if r.kind == "earlier"] == ["101"]


def test_what_is_left_out_of_a_lineage_can_be_shown() -> None:
    state, maker = long_state(899), LineageRows()
    for lineage in list(state.lineages)[1:200]:
        del state.lineages[lineage]
    before = maker.rows(state, {"001"})
    assert [r.number for r in before if r.kind == "earlier"] == ["299"]
    maker.whole.add("001")
    after = maker.rows(state, {"001"})
    assert sum(1 for r in after if r.kind == "trajectory") == 399


async def test_a_kept_lineage_shows_new_verdicts_and_bans(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        tree = live(pilot).query_one(LineageTree)
        assert next(r for r in tree.rows if r.key == "c29").word == "running"
        verdict = f.VerdictReached("c29", "correct", 0.1, journals.verdict_of(2.5, "bf16"))
        await journals.append(stage.folder.journal, stage.at + 2, [verdict])
        await until(pilot, lambda: next(r for r in tree.rows if r.key == "c29").best)
        assert "2.50× ★" in shown(pilot)
        assert not next(r for r in tree.rows if r.key == "c25").best
        args = {"candidate": "c29", "candidates": ["c29"]}
        ban = f.Steered("s4", 904, "ban", args, "ann", applied=True)
        await journals.append(stage.folder.journal, stage.at + 3, [ban])
        await until(pilot, lambda: next(r for r in tree.rows if r.key == "c25").best)


async def test_a_folded_lineage_stays_folded_when_something_happens_in_it(stage: Stage) -> None:
    async with stage.app().run_test(size=WIDE) as pilot:
        await settled(pilot)
        tree = live(pilot).query_one(LineageTree)
        await press(pilot, "1")
        tree.select("lineage:003")
        await press(pilot, "h")
        verdict = f.VerdictReached("c29", "correct", 0.1, journals.verdict_of(2.5, "bf16"))
        await journals.append(stage.folder.journal, stage.at + 2, [verdict])
        await until(pilot, lambda: "003  2.50×" in shown(pilot))
        assert not [r for r in tree.rows if r.key == "c29"]


async def test_a_screen_that_ends_by_a_mistake_of_ours_ends_with_one(stage: Stage) -> None:
    app = stage.app()

    def fail() -> None:
        raise RuntimeError("a mistake of ours")

    async def shown_until_it_fails() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            app.call_later(fail)
            await pilot.pause()

    with pytest.raises(RuntimeError):
        await shown_until_it_fails()
    assert code_of(app, None) == 1
    assert code_of(app, 0) == 0
    assert app.mistake.count("\n") == 1
    assert "Traceback" not in app.mistake
    assert "viewer.log" in app.mistake
