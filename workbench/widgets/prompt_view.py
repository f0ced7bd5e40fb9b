"""The Prompt tab: the queries behind an attempt: who asked whom, what it cost, guides, prompt, tool calls, reply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.talk_pages import REPLY, pages, rounds_of
from sessions.tool_rounds import cost_usd
from workbench.format import amount, plural, seconds
from workbench.plain import inert_line
from workbench.tool_words import counts
from workbench.widgets.document import Document, document, section, text_lines
from workbench.widgets.lines import EMPTY, Line, Span, plain_text, span
from workbench.widgets.steer_list import told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.model import AttemptRecord, QueryRecord, State
    from sessions.talk_pages import Page


def prompt_document(state: State, attempt: AttemptRecord, text: Callable[[str], str]) -> Document:
    """Return what was asked and answered; `text` reads a kept text by its key."""
    query = state.queries.get(attempt.query)
    if query is None:
        return document(
            [(span("Nobody was asked: it was submitted, not proposed by a model.", "dim"),)]
        )
    lines: list[Line] = [*_facts(query), *_rounds(state, query), *_steers(state, query), EMPTY]
    said = pages(state, query, text)
    for page in said:
        lines += section(inert_line(page.title, 100), text_lines(page.text))
    if not query.reply_key:
        lines += section(REPLY, [_no_reply(query)])
    found = document(lines, note=f"query {query.id}", wraps=True, text=said[0].text)
    return replace(found, pages=lambda: _whole(query, said))


def _whole(query: QueryRecord, said: Sequence[Page]) -> str:
    """Return all that was said, none of it cut."""
    shown = [f"{inert_line(page.title, 100)}\n\n{page.text}\n" for page in said]
    shown += [] if query.reply_key else [f"{REPLY}\n\n{plain_text(_no_reply(query))}\n"]
    return "\n".join(shown)


def _rounds(state: State, query: QueryRecord) -> list[Line]:
    """Return what the rounds with tools before an answer come to."""
    rounds = rounds_of(state, query)
    if not rounds:
        return []
    paid = amount(cost_usd(state, query))
    told = f"after {counts(rounds)}, in {plural(len(rounds), 'round')}"
    short = f"; no further round: {query.cut_short}" if query.cut_short else ""
    return [(Span(inert_line(f"{told} · $ {paid} in all{short}", 160), "dim"),)]


def _facts(query: QueryRecord) -> list[Line]:
    tokens = f"{_count(query.input_tokens)} in{_kept(query)} · {_count(query.output_tokens)} out"
    if query.thinking_tokens:
        tokens += f" ({query.thinking_tokens:,} thinking)"
    told = f" · thinking {query.thinking}" if query.thinking else ""
    paid = "replayed, nothing paid" if query.replayed else f"$ {amount(query.cost_usd)}"
    end = query.finish or query.end or "not yet"
    return [
        (
            Span(inert_line(query.agent, 24), "strong"),
            Span(
                inert_line(
                    f" asked {query.model}{told} · {query.id} · step {query.step} · {query.role}",
                    140,
                )
            ),
        ),
        (
            Span(
                inert_line(
                    f"{tokens} tokens · {paid} · {seconds(query.seconds)} · ended {end}",
                    160,
                ),
                "dim",
            ),
        ),
    ]


def _kept(query: QueryRecord) -> str:
    """Return what a provider's cache had of the prompt, and what it took in."""
    read = [f"{query.cached_tokens:,} cached"] if query.cached_tokens else []
    written = [f"{query.cache_write_tokens:,} to the cache"] if query.cache_write_tokens else []
    return f" ({', '.join([*read, *written])})" if read or written else ""


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _steers(state: State, query: QueryRecord) -> list[Line]:
    found = [state.steers[s] for s in query.steers if s in state.steers]
    return [
        (
            span("steered by ", "dim"),
            Span(told(s, query.seq), "accent"),
        )
        for s in found
    ]


def _no_reply(query: QueryRecord) -> Line:
    return (Span(inert_line(query.cause or "no answer yet", 400), "warn"),)
