"""Foreign text: whatever it holds, it is shown and never obeyed, in every widget."""

from __future__ import annotations

import ast
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from sessions import facts as f
from sessions.fold import fold
from sessions.journal import key_of
from tests.tui import journals
from tests.tui.looking import press, settled, shown, told
from workbench.plain import inert, inert_line
from workbench.shown import Live
from workbench.widgets.agent_strip import agent_lines, stream_lines
from workbench.widgets.attempt_rows import RowMaker
from workbench.widgets.attempt_table import AttemptTable
from workbench.widgets.code_view import code_document
from workbench.widgets.detail import subtitle, title
from workbench.widgets.diff_view import diff_document
from workbench.widgets.document import LINE_LIMIT, text_lines
from workbench.widgets.lineage_tree import LineageTree, lineage_rows
from workbench.widgets.lines import Line, Span, span
from workbench.widgets.painted import Lines
from workbench.widgets.prompt_view import prompt_document
from workbench.widgets.session_rows import SessionTable, session_row
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


def hostile_state(text: str) -> State:
    """Return a session in which every foreign text is `text`."""
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
    bodies: list[f.Body] = [
        journals.opened(text),
        journals.baseline(),
        guide,
        f.Proposed([proposal], {}),
        query,
        f.QueryDone("q1", key_of("x"), text, 1, 0, 1, 0.1, 1.0),
        f.AttemptMade("c1", text, "p1", 0, text, key_of("x"), "q1", text, text),
        f.ToolCalled("c1", text, text, ok=True, seconds=1.0),
        f.VerdictReached("c1", text, None, verdict),
        f.Committed("c1", text, text),
    ]
    return fold(f.Fact(n, float(n), body) for n, body in enumerate(bodies, 1))


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
