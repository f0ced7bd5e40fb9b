"""What was said behind an answer, to be read: the prompt, each round's calls and what the tools said, the reply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sessions import tool_rounds
from sessions.agent_tools import SOURCE
from sessions.models.tools import of_text
from sessions.tool_talk import said_besides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sessions.model import QueryRecord, State
    from sessions.models.tools import Call

PROMPT, REPLY = "Prompt", "Reply"


class Page(NamedTuple):
    """One thing that was said."""

    title: str
    """Holds the name of a tool as the model gave it: foreign text, as `text`."""
    text: str


def rounds_of(state: State, query: QueryRecord) -> list[QueryRecord]:
    """Return the queries of an answer's step that asked for tools, the answer itself among them if it did."""
    return [*tool_rounds.earlier(state, query), *([query] if query.calls else [])]


def keys_of(state: State, query: QueryRecord) -> list[str]:
    """Return the keys of all texts that the pages show."""
    rounds = rounds_of(state, query)
    keys = [query.prompt_key, query.reply_key, *(one.prompt_key for one in rounds)]
    keys += [one.turn_key for one in rounds]
    keys += [call.result_key for one in rounds for call in one.calls]
    return [key for key in dict.fromkeys(keys) if key]


def pages(state: State, query: QueryRecord, text: Callable[[str], str]) -> list[Page]:
    """Return what was said, in order; `text` reads a kept text by its key. No reply: there is none yet."""
    rounds = rounds_of(state, query)
    first = rounds[0] if rounds else query
    reply = [Page(REPLY, text(query.reply_key))] if query.reply_key else []
    return [Page(PROMPT, text(first.prompt_key)), *_rounds(state, query, rounds, text), *reply]


def _rounds(
    state: State,
    query: QueryRecord,
    rounds: Sequence[QueryRecord],
    text: Callable[[str], str],
) -> Iterator[Page]:
    for place, one in enumerate(rounds):
        yield from _round(place + 1, one, text)
        following = rounds[place + 1] if place + 1 < len(rounds) else query
        besides = said_besides(state, following, rounds[: place + 1])
        if following is not one and besides:
            yield Page(f"Round {place + 2}: said besides", besides)


def _round(number: int, query: QueryRecord, text: Callable[[str], str]) -> Iterator[Page]:
    turn = of_text(text(query.turn_key))
    if turn.text.strip():
        yield Page(f"Round {number}: the model said", turn.text)
    for asked, call in zip(turn.calls, query.calls, strict=True):
        name = asked.name or "a call without a name"
        yield Page(f"Round {number}: {name} asked for", _arguments(asked))
        if call.answered:
            how = f"{'ok' if call.ok else 'not ok'}, {call.seconds:.1f} s"
            yield Page(f"Round {number}: {name} said ({how})", text(call.result_key))


def _arguments(call: Call) -> str:
    """Return a file as it is, anything else as JSON."""
    arguments = call.arguments or {}
    if set(arguments) == {SOURCE} and isinstance(arguments[SOURCE], str):
        return str(arguments[SOURCE])
    return json.dumps(call.arguments, indent=1, ensure_ascii=False)


def files(state: State, query: QueryRecord, text: Callable[[str], str]) -> dict[str, str]:
    """Return what an attempt's commit keeps of it; `rounds.md` only where tools were called."""
    prompt, *said = pages(state, query, text)
    rounds = [page for page in said if page.title != REPLY]
    found = {"prompt.md": prompt.text, "rounds.md": as_markdown(rounds) if rounds else ""}
    found |= {"reply.md": text(query.reply_key)} if query.reply_key else {}
    return {name: kept for name, kept in found.items() if kept or name != "rounds.md"}


def as_markdown(found: Sequence[Page]) -> str:
    """Return pages as one text."""
    return "\n\n".join(f"# {page.title}\n\n{page.text.rstrip()}" for page in found) + "\n"
