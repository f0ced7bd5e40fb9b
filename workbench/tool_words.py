"""The tools that models called, as the plain commands tell of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sessions.talk_pages import REPLY, as_markdown, pages, rounds_of
from sessions.tool_rounds import answered
from workbench import format as fmt
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    """Return the calls behind an attempt as JSON; what was asked for when no round was left was not `carried_out`."""
    return [{**asdict(call), "carried_out": call.answered} for _, call in _calls(state, query)]


def counts(rounds: Sequence[QueryRecord]) -> str:
    """Return how the calls of some rounds went: `6 tool calls, 2 not ok, 3 not carried out`."""
    asked = [call for one in rounds for call in one.calls]
    made = [call for call in asked if call.answered]
    failed, left = sum(not call.ok for call in made), len(asked) - len(made)
    unmade = f", {left} not carried out" if left else ""
    return f"{fmt.plural(len(made), 'tool call')}, {failed} not ok{unmade}"


def lines(state: State, query: QueryRecord | None) -> Iterator[str]:
    """Return the calls behind an attempt, one a line."""
    for one, call in _calls(state, query):
        agent, tool = inert_line(one.agent), inert_line(call.tool, 40)
        if call.answered:
            how = f"{'ok' if call.ok else 'not ok'}, {fmt.seconds(call.seconds)}"
            yield f"{agent} called {tool}: {how}: {inert_line(call.said, 100)}"
        else:
            yield f"{agent} asked for {tool}: not carried out, no round was left"


def _calls(state: State, query: QueryRecord | None) -> list[tuple[QueryRecord, CallRecord]]:
    rounds = rounds_of(state, query) if query else []
    return [(one, call) for one in rounds for call in one.calls]
