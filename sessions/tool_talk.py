"""What a model is told in the rounds of a step: read from what the journal keeps, never made again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sessions import tool_rounds
from sessions.models.tools import Result, Round, of_text
from strategies import reply
from strategies.agents.blocks import fenced, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.library import Library
    from sessions.model import QueryRecord, State
    from sessions.models.tools import Turn

SOURCE = "source"
"""The argument of a call that holds a file."""


async def rounds(
    state: State, library: Library, asked: Sequence[QueryRecord], words: str
) -> tuple[Round, ...]:
    """Return the conversation so far; `words`: what is said besides, last."""
    found: list[Round] = []
    for place, query in enumerate(asked):
        told = words
        if place + 1 < len(asked):
            told = said_besides(state, asked[place + 1], asked[: place + 1])
        turn = of_text(await library.text(query.turn_key))
        results = [Result(await library.text(c.result_key), c.ok) for c in query.calls]
        found.append(Round(turn, query.turn_key, tuple(results), told))
    return tuple(found)


def said_besides(state: State, query: QueryRecord, before: Sequence[QueryRecord]) -> str:
    """Return what a round that was sent said besides the results."""
    return besides(tool_rounds.words(state, query.steers, query.seq, before), last=query.last_round)


def besides(words: str, *, last: bool) -> str:
    """Return what is said to a model besides the results of its calls."""
    asked = f"{ASKED}\n\n{quoted(words)}" if words else ""
    return "\n\n".join(filter(None, (asked, tool_rounds.LAST_WORDS if last else "")))


ASKED = "Asked for by the person who runs this search, just now:"


def text_of(number: int, rounds: Sequence[Round]) -> str:
    """Return a further round's prompt as it is kept and shown: what the tools said, and what was said besides.

    Its first line names all that was said before, so that two conversations never share a prompt.
    """
    last = rounds[-1]
    chain = hashlib.sha256("\n".join(_named(one) for one in rounds).encode()).hexdigest()
    calls = zip(last.turn.calls, last.results, strict=True)
    shown = [
        f"{call.name or 'a call without a name'}: {'ok' if result.ok else 'not ok'}\n\n"
        f"{fenced(result.text, 'text')}"
        for call, result in calls
    ]
    return "\n\n".join(
        [f"Round {number} ({chain[:16]}), what the tools said:", *shown, *_last(last)]
    )


def _named(one: Round) -> str:
    return "\n".join([one.turn_key, *(result.text for result in one.results), one.words])


def _last(one: Round) -> list[str]:
    return [one.words] if one.words else []


def last_file(turns: Sequence[Turn]) -> str | None:
    """Return the last complete file that was seen in these turns, in a call or in the words; None: there is none."""
    for turn in reversed(turns):
        for call in reversed(turn.calls):
            found = file_in(call.arguments)
            if found is not None:
                return found
        spoken = reply.candidate(turn.text)
        if isinstance(spoken, reply.Found):
            return spoken.source
    return None


def file_in(arguments: dict[str, object] | None) -> str | None:
    """Return the complete file that a call hands in; None where it is none."""
    source = (arguments or {}).get(SOURCE)
    if not isinstance(source, str):
        return None
    found = reply.candidate(fenced(source, "python"))
    return found.source if isinstance(found, reply.Found) else None
