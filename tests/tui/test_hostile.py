"""Foreign text: whatever it holds, it is shown and never obeyed, in every widget."""

from __future__ import annotations

import ast
import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from sessions import facts as f
from sessions.fold import fold
from sessions.folder import SessionFolder
from sessions.journal import key_of
from tests.tui import journals
from tests.tui.looking import press, settled, shown, told
from workbench import comparing, comparing_sessions, story
from workbench.machine import Row
from workbench.plain import inert, inert_line
from workbench.shown import Live, Standing
from workbench.suggestions import Option
from workbench.widgets.agent_strip import agent_lines, stream_lines
from workbench.widgets.attempt_rows import RowMaker
from workbench.widgets.attempt_table import AttemptTable
from workbench.widgets.chooser import Chooser
from workbench.widgets.code_view import code_document
from workbench.widgets.compare_table import table_lines
from workbench.widgets.detail import log_document, subtitle, title
from workbench.widgets.diff_view import diff_document
from workbench.widgets.document import LINE_LIMIT, text_lines
from workbench.widgets.form_lines import check_lines, expected_lines
from workbench.widgets.lineage_tree import LineageTree, lineage_rows
from workbench.widgets.lines import Line, Span, span
from workbench.widgets.painted import Lines
from workbench.widgets.profile_view import profile_document
from workbench.widgets.prompt_view import prompt_document
from workbench.widgets.session_rows import SessionTable, session_row, wants
from workbench.widgets.status_line import status
from workbench.widgets.steer_list import SteerList, steer_rows
from workbench.widgets.suggested_field import Suggestions
from workbench.widgets.text_view import TextView
from workbench.widgets.verdict_view import verdict_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.model import State
    from tests.tui.conftest import Stage

WORKBENCH = Path(__file__).parents[2] / "workbench"
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
NASTY = st.one_of(
    st.text(max_size=60),
    st.sampled_from(journals.HOSTILE),
    st.text(alphabet="[]/\\=@#'\"abc()", max_size=40),
    st.text(
        alphabet="\x00\x07\x08\x1b\x7f\x9b\x9d\r\n\t\u202e\u2066\u2069\ud800]52;c", max_size=40
    ),
)


def obeyed(text: str) -> list[str]:
    """Return the characters a terminal or a reader's eye would obey."""
    return [
        c
        for c in text
        if unicodedata.category(c) in ("Cc", "Cs") or unicodedata.bidirectional(c) in BIDI
    ]


class Bench(App[None]):
    """One of each widget, to paint with."""

    def compose(self) -> ComposeResult:
        yield AttemptTable(id="attempts")
        yield LineageTree(id="lineages")
        yield SessionTable(id="sessions")
        yield TextView(id="text")
        yield Lines(id="lines")
        yield SteerList(id="steers")
        yield Suggestions(id="suggestions")


def bodies_of(text: str) -> list[f.Body]:
    """Return facts in which every foreign text is `text`."""
    verdict: dict[str, Any] = {"status": text, "code": text, "cause": text, "flags": [text]}
    verdict |= {
        "build_log": text,
        "stderr_tail": text,
        "stdout_tail": text,
        "precision_class": text,
    }
    proposal: dict[str, Any] = {
        "id": "p1",
        "role": "improve",
        "parent": text,
        "idea": text,
        "meta": {},
    }
    guide = f.Steered("s1", 1, "guide", {"text": text, "scope": text}, text, applied=True)
    query = f.QuerySent("q1", "p1", 0, text, text, text, key_of("x"), 0, None, ["s1"])
    return [
        journals.opened(text),
        journals.baseline(),
        guide,
        f.Steered("s2", 2, "pin", {"candidate": text}, text, applied=False, why=text),
        f.Proposed([proposal], {}),
        query,
        f.QueryDone("q1", key_of("x"), text, 1, 0, 1, 0.1, 1.0),
        f.AttemptMade("c1", text, "p1", 0, text, key_of("x"), "q1", text, text),
        f.ToolCalled("c1", text, text, ok=True, seconds=1.0),
        f.VerdictReached("c1", text, None, verdict),
        f.Committed("c1", text, text),
    ]


def hostile_state(text: str) -> State:
    """Return a session in which every foreign text is `text`."""
    return fold(f.Fact(n, float(n), body) for n, body in enumerate(bodies_of(text), 1))


def lines_of(text: str) -> Iterator[Line]:
    """Yield every line this program would show of a hostile session."""
    state = hostile_state(text)
    attempt = state.attempts["c1"]
    live = Live(
        1.0,
        {
            "agents": [{"name": text, "doing": text, "target": text, "note": text}],
            "evaluations": [{"candidate": "c1", "stage": text, "detail": text}],
            "stream": {"agent": text, "text": text},
        },
    )
    yield from agent_lines(state, live, [], 9.0, 60)
    yield from stream_lines(live, 60, 10)
    for document in (
        diff_document("x\n", text, text),
        diff_document(text, "y\n", text),
        code_document(text),
        prompt_document(state, attempt, lambda _: text),
        verdict_document(attempt),
    ):
        yield from document.wrapped(50)[0]
    yield (Span(title(state, "c1")), Span(subtitle(state, "c1")))


async def test_nothing_foreign_is_obeyed_in_any_widget() -> None:
    app = Bench()
    async with app.run_test(size=(100, 30)):
        table, tree = app.query_one(AttemptTable), app.query_one(LineageTree)
        sessions, lines = app.query_one(SessionTable), app.query_one(Lines)

        @settings(max_examples=150, deadline=None)
        @given(NASTY)
        def hold(text: str) -> None:
            state = hostile_state(text)
            painted = [lines.paint(line, 60) for line in lines_of(text)]
            painted += [lines.paint((Span(inert(text)), span(text)), 60)]
            rows = RowMaker().rows(state, Live(), 9.0)
            painted += [table.paint(table.line(row, 90), 90) for row in rows]
            branches = lineage_rows(state, state.lineages)
            painted += [tree.paint(tree.line(row, 30), 30) for row in branches]
            listed = session_row(
                {"id": text, "state": text, "task": text, "needs": text, "cause": text}
            )
            painted += [sessions.paint(sessions.line(listed, 90), 90)]
            for strip in painted:
                assert obeyed(strip.text) == []
                assert strip.cell_length in (30, 60, 90)

        hold()


def lines_of_forms(text: str, folder: SessionFolder) -> Iterator[Line]:
    """Yield every line that the forms, the comparisons, the Profile and the Log tab would show."""
    state = hostile_state(text)
    attempts = comparing.sides(state, ["c1", "c0"])
    sessions = comparing_sessions.columns([state, state], 9.0)
    heads = [(comparing.head(side), "") for side in attempts]
    yield from table_lines(heads, comparing.ROWS, [dict(s.cells) for s in attempts], 90)
    names = [(inert_line(column.name), "") for column in sessions]
    rows = comparing_sessions.ROWS
    yield from table_lines(names, rows, [dict(c.cells) for c in sessions], 90)
    sentences = (comparing.told(attempts), comparing_sessions.told(sessions))
    yield from ((Span(inert_line(told)),) for told in sentences)
    checks = [Row(text, "ok", text, text), Row(text, "missing", text, text)]
    yield from check_lines([*checks, Row(text, text, text, text)], 60)
    yield from expected_lines(text, 60)
    yield wants(session_row({"id": text, "state": "finished", "cause": text}))
    yield wants(session_row({"id": text, "needs": text, "needs_code": text}))
    yield status(state, Live(1.0, {"waits_for": text}), Standing(text, text), 9.0, 160)
    told = [inert_line(story.line(f.Fact(1, 1.0, body))) for body in bodies_of(text)]
    for document in (
        profile_document(state, "c1", folder),
        log_document(told, text, text, engine_first=True),
    ):
        yield from document.wrapped(50)[0]


def keep_profile(folder: SessionFolder, text: str) -> None:
    """Write a profile in which every name is `text`."""
    kernel = {"name": text, "share_ratio": 0.5, "us": 7.0, "calls": 3}
    side = {"kernels": [kernel], "own_share_ratio": 0.5, "idle_share_ratio": 0.1}
    found = {"verdict": {"summary": [text]}, "profile": {"candidate": side}}
    folder.artifacts.mkdir(parents=True, exist_ok=True)
    path = folder.artifacts / "profile-c1.json"
    path.write_text(json.dumps(found), encoding="utf-8")


async def test_nothing_foreign_is_obeyed_in_forms_comparisons_profile_and_log(
    tmp_path: Path,
) -> None:
    app, folder = Bench(), SessionFolder(tmp_path)
    async with app.run_test(size=(100, 30)):
        lines, steers = app.query_one(Lines), app.query_one(SteerList)
        suggestions = app.query_one(Suggestions)

        @settings(max_examples=100, deadline=None)
        @given(NASTY)
        def hold(text: str) -> None:
            keep_profile(folder, text)
            painted = [lines.paint(line, 60) for line in lines_of_forms(text, folder)]
            rows = steer_rows(hostile_state(text))
            assert len(rows) == 2
            painted += [steers.paint(steers.line(row, 74), 74) for row in rows]
            offered = Option(text, inert_line(text), ready=False)
            painted += [suggestions.paint(suggestions.line(offered, 60), 60)]
            chooser = Chooser(inert_line(text), [(text, inert_line(text))])
            painted += [lines.paint(line, 60) for line in chooser.lines]
            assert any("kernel" in strip.text and "calls" in strip.text for strip in painted)
            for strip in painted:
                assert obeyed(strip.text) == []

        hold()


async def test_a_line_of_a_megabyte_is_cut_and_says_so() -> None:
    lines = text_lines("x" * 1_000_000 + "\nnext")
    assert len(lines) == 2
    assert len(lines[0][0].text) == LINE_LIMIT
    assert "998,000 more characters" in lines[0][1].text


@pytest.mark.parametrize("tab", range(5))
async def test_a_hostile_attempt_can_be_read_under_every_tab(stage: Stage, tab: int) -> None:
    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        await press(pilot, "slash", *"foo", "enter", "enter", *["]"] * tab)
        assert "3 c18 · COA" in shown(pilot)
        assert obeyed(shown(pilot).replace("\n", "")) == []


async def test_brackets_of_a_failure_do_not_end_the_screen(stage: Stage) -> None:
    from workbench import messages as m

    async with stage.app().run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        pilot.app.screen.post_message(m.Failed("a [/foo] b [bold]"))
        pilot.app.screen.post_message(m.Told("c [/bar] d"))
        await settled(pilot)
        assert "a [/foo] b [bold]" in shown(pilot)
        assert "c [/bar] d" in told(pilot)


# --- the source itself: no text reaches a parser of markup unless it is a literal or was made inert

PARSERS = {"Static", "Label", "update", "notify", "add_row", "Content", "set_label", "Text"}
INERT_MAKERS = {"inert", "inert_line", "first_line", "Content", "Inert", "fit"}
TITLES = {"border_title", "border_subtitle", "placeholder"}


def unsafe(node: ast.expr, known: set[str]) -> bool:
    """Return whether an argument is neither a literal nor inert."""
    if isinstance(node, ast.Constant):
        return False
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id in INERT_MAKERS)
    if isinstance(node, ast.Attribute | ast.Name):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        return name not in known
    return True


def typed_inert(tree: ast.AST) -> set[str]:
    """Return the names that are annotated as `Inert`, which pyright then checks."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            typed = "Inert" in ast.unparse(node.annotation)
            if typed:
                names.add(node.arg if isinstance(node, ast.arg) else ast.unparse(node.target))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            makes = isinstance(node.value.func, ast.Name) and node.value.func.id in INERT_MAKERS
            names |= {ast.unparse(t) for t in node.targets} if makes else set()
    return names | {name.removeprefix("self._") for name in names} | {"asked", "_asked"}


def offences(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = typed_inert(tree)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            func = node.func
            name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
            if name in PARSERS and unsafe(node.args[0], known):
                found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)[:90]}")
        if isinstance(node, ast.Assign):
            for target in node.targets:
                named = isinstance(target, ast.Attribute) and target.attr in TITLES
                if named and unsafe(node.value, known):
                    found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)[:90]}")
    return found


def test_no_text_reaches_a_parser_of_markup_unless_literal_or_inert() -> None:
    files = [
        *WORKBENCH.glob("*.py"),
        *WORKBENCH.glob("screens/*.py"),
        *WORKBENCH.glob("widgets/*.py"),
    ]
    drawing = [path for path in files if "textual" in path.read_text(encoding="utf-8")]
    assert len(drawing) > 15
    assert [line for path in drawing for line in offences(path)] == []


def test_the_check_itself_sees_a_string_that_is_not_inert(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("Label(f'{name}')\nself.border_title = name\napp.notify(words)\nLabel('fine')\n")
    assert [line.split(":")[1] for line in offences(bad)] == ["1", "3", "2"] or len(
        offences(bad)
    ) == 3


def test_inert_line_never_breaks_a_line() -> None:
    assert "\n" not in inert_line("a\nb\r\nc\u2028d")
