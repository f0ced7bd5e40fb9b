"""The Prompt tab: each query behind an attempt: who asked whom, what it cost, its guides, its prompt, its reply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.format import amount, seconds
from workbench.plain import inert_line
from workbench.widgets.document import Document, document, section, text_lines
from workbench.widgets.lines import EMPTY, Line, Span, plain_text, span
from workbench.widgets.steer_list import told

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.model import AttemptRecord, QueryRecord, State


def prompt_document(state: State, attempt: AttemptRecord, text: Callable[[str], str]) -> Document:
    """Return what was asked and answered; `text` reads a kept text by its key."""
    query = state.queries.get(attempt.query)
    if query is None:
        return document(
            [(span("Nobody was asked: it was submitted, not proposed by a model.", "dim"),)]
        )
    lines: list[Line] = [*_facts(query), *_steers(state, query), EMPTY]
    lines += section("Prompt", text_lines(text(query.prompt_key)))
    reply = text_lines(text(query.reply_key)) if query.reply_key else [_no_reply(query)]
    lines += section("Reply", reply)
    found = document(lines, note=f"query {query.id}", wraps=True, text=text(query.prompt_key))
    return replace(found, pages=lambda: _whole(query, text))


def _whole(query: QueryRecord, text: Callable[[str], str]) -> str:
    """Return prompt and reply, neither of them cut."""
    reply = text(query.reply_key) if query.reply_key else plain_text(_no_reply(query))
    return f"Prompt\n\n{text(query.prompt_key)}\n\nReply\n\n{reply}\n"


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
