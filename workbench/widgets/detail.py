"""The detail pane: one attempt under six tabs; what a tab shows is built when it is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Vertical

from sessions.best import best
from sessions.model import ORIGINAL
from sessions.talk_pages import keys_of
from workbench.glyphs import UNICODE, word
from workbench.plain import inert_line
from workbench.widgets.attempt_rows import why
from workbench.widgets.document import Document, document, section, text_lines
from workbench.widgets.frame import TabsLine
from workbench.widgets.lines import EMPTY, Line, Span, span, write_border
from workbench.widgets.steer_list import told
from workbench.widgets.text_view import TextView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State
    from workbench.plain import Inert

TABS = ("Diff", "Code", "Prompt", "Verdict", "Profile", "Log")
BASES = ("parent", "best", "original")


@dataclass(frozen=True, slots=True)
class Look:
    """How a person looks at diffs."""

    base: str = BASES[0]
    context: int = 3
    whitespace: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which document a person looks at; a new verdict makes it another one."""

    candidate: str
    tab: str
    look: Look
    stage: str
    """Changes when the attempt does."""


def wanted(state: State, candidate: str, tab: str, look: Look) -> Wanted:
    """Return what is to be shown."""
    attempt = state.attempts.get(candidate)
    champion = best(state) if look.base == "best" else None
    stage = (
        f"{attempt.kind}{attempt.banned}{bool(attempt.remeasured)}{attempt.commit}"
        if attempt
        else ""
    )
    if tab == "Log":
        return Wanted("", tab, Look(), "")
    against = champion.id if champion else ""
    return Wanted(candidate, tab, look if tab == "Diff" else Look(), stage + against)


def builder(
    state: State, want: Wanted, text: Callable[[str], str], folder: SessionFolder
) -> Callable[[], Document]:
    """Return what builds a document; texts of the journal are read now, so that it may run in a thread."""
    attempt = state.attempts.get(want.candidate)
    original = text(state.opened.source_key) if state.opened else ""
    if want.tab == "Profile":
        return lambda: _profile(state, want.candidate, folder)
    if attempt is None:
        return lambda: _original(original)
    source = text(attempt.source_key)
    match want.tab:
        case "Diff":
            name, before = _base(state, attempt, want.look.base, text, original)
            below = _below(state, attempt)
            return lambda: _diff(before, source, name, below, want.look)
        case "Code":
            return lambda: _code(source)
        case "Prompt":
            return _prompt(state, attempt, text)
        case _:
            return lambda: _verdict(attempt)


def _base(
    state: State, attempt: AttemptRecord, base: str, text: Callable[[str], str], original: str
) -> tuple[str, str]:
    champion = best(state) if base == "best" else None
    if champion:
        return f"best {champion.id}", text(champion.source_key)
    parent = state.attempts.get(attempt.parent)
    if base == "original" or parent is None:
        return f"original {ORIGINAL}", original
    return f"parent {parent.id}", text(parent.source_key)


def _below(state: State, attempt: AttemptRecord) -> list[Line]:
    """What stands under a diff: the change in its author's words, the guides, the error."""
    lines: list[Line] = []
    if attempt.change:
        lines.append((span("change  ", "dim"), Span(inert_line(attempt.change, 400))))
    query = state.queries.get(attempt.query)
    lines += [
        (span("steered ", "dim"), Span(told(state.steers[name], query.seq), "accent"))
        for name in (query.steers if query else ())
        if query and name in state.steers
    ]
    if attempt.kind and not attempt.correct:
        shown = attempt.verdict.get("code") or word(attempt)
        lines += [EMPTY, (span("error   ", "dim"), Span(inert_line(str(shown), 60), "worse"))]
        lines += [
            (span("        "), *line)
            for line in text_lines(str(attempt.verdict.get("cause") or ""))
        ]
        log = str(attempt.verdict.get("build_log") or attempt.verdict.get("stderr_tail") or "")
        lines += [(span("        "), *line) for line in text_lines(log, "dim")[:40]]
    return lines


def _diff(before: str, source: str, name: str, below: list[Line], look: Look) -> Document:
    from workbench.widgets.diff_view import diff_document

    return diff_document(
        before, source, name, below, context=look.context, whitespace=look.whitespace
    )


def _profile(state: State, candidate: str, folder: SessionFolder) -> Document:
    from workbench.widgets.profile_view import profile_document

    return profile_document(state, candidate, folder)


def _code(source: str) -> Document:
    from workbench.widgets.code_view import code_document

    return code_document(source)


def _original(source: str) -> Document:
    return _code(source)


def _prompt(
    state: State, attempt: AttemptRecord, text: Callable[[str], str]
) -> Callable[[], Document]:
    from workbench.widgets.prompt_view import prompt_document

    query = state.queries.get(attempt.query)
    texts = {key: text(key) for key in (keys_of(state, query) if query else ())}
    return lambda: prompt_document(state, attempt, lambda key: texts.get(key, ""))


def _verdict(attempt: AttemptRecord) -> Document:
    from workbench.widgets.verdict_view import verdict_document

    return verdict_document(attempt)


def log_document(
    happened: Sequence[Inert], tail: str, name: str, *, engine_first: bool
) -> Document:
    """Return what happened, the newest first, and the end of the engine's log.

    `engine_first`: the log stands above, because the engine is dead or silent.
    """
    story: list[Line] = [(Span(line),) for line in reversed(happened)]
    more = (Span(inert_line(f"`pike tail {name}` prints all of it.", 90), "dim"),)
    events = section("What happened, the newest first", [*story, more])
    log = text_lines(tail) if tail else [(span("The engine wrote nothing.", "dim"),)]
    engine = section("The engine's log, its end", log)
    return document([*engine, *events] if engine_first else [*events, *engine], wraps=True)


def title(state: State, candidate: str) -> Inert:
    """Return the words in the upper border."""
    attempt = state.attempts.get(candidate)
    if attempt is None:
        return inert_line(f"3 {ORIGINAL} · the original")
    verb = "fixed" if attempt.author == "EFA" else "from"
    return inert_line(
        f"3 {attempt.id} · {attempt.author} {verb} {attempt.parent} · lineage {attempt.lineage}", 90
    )


def subtitle(state: State, candidate: str) -> Inert:
    """Return the words in the lower border: what became of it."""
    attempt = state.attempts.get(candidate)
    if attempt is None or not attempt.kind:
        return inert_line("")
    shown = word(attempt)
    reason = why(attempt)
    return inert_line(f"{UNICODE.verdict(shown)} {shown}{f': {reason}' if reason else ''}", 120)


class Detail(Vertical):
    """Tabs above one text."""

    def compose(self) -> ComposeResult:
        """Lay out the tabs and the text."""
        yield TabsLine(TABS, id="tabs")
        yield TextView(id="text")

    def name_it(self, upper: Inert, lower: Inert) -> None:
        """Write the borders."""
        write_border(self, upper=upper, lower=lower)
