"""The tools that models called, as the plain commands tell of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions.talk_pages import REPLY, as_markdown, pages, rounds_of
from sessions.tool_rounds import answered
from workbench import format as fmt
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessions.model import CallRecord, QueryRecord, State


def counted(state: State) -> str:
    """Return how many calls a session's models made, to follow what it spent; nothing where there are none."""
    calls = answered(state)
    return f", {fmt.plural(len(calls), 'tool call')} by models" if calls else ""


def texts(state: State, query: QueryRecord | None, text: Callable[[str], str]) -> dict[str, str]:
    """Return `prompt`, `rounds` and `reply` behind an attempt; empty where nobody was asked.

    `text`: reads a kept text by its key.
    """
    if query is None:
        return {"prompt": "", "rounds": "", "reply": ""}
    prompt, *said = pages(state, query, text)
    rounds = [page for page in said if page.title != REPLY]
    reply = text(query.reply_key) if query.reply_key else ""
    return {"prompt": prompt.text, "rounds": as_markdown(rounds) if rounds else "", "reply": reply}


def calls(state: State, query: QueryRecord | None) -> list[dict[str, Any]]:
    """Return the calls behind an attempt as JSON."""
    return [asdict(call) for call in _calls(state, query)]


def lines(state: State, query: QueryRecord | None) -> Iterator[str]:
    """Return the calls behind an attempt, one a line."""
    for call in _calls(state, query):
        how = f"{'ok' if call.ok else 'not ok'}, {fmt.seconds(call.seconds)}"
        tool, said = inert_line(call.tool, 40), inert_line(call.said, 100)
        yield f"{inert_line(call.agent)} called {tool}: {how}: {said}"


def _calls(state: State, query: QueryRecord | None) -> list[CallRecord]:
    rounds = rounds_of(state, query) if query else []
    return [call for one in rounds for call in one.calls]
