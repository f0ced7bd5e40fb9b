"""The offline model at the agents' tools: check the file, mend what fails, answer with what passed.

A pure function of the conversation, as its answers are of the prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.agent_tools import CHECK, SOURCE
from sessions.models.tools import Call, Turn
from strategies import reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.models.port import Request
    from strategies.protocol import Context

    Mended = Callable[[Context, str, str], str]
    """A reply that mends a file, from what a tool said of it."""


def taken(request: Request, text: str, mended: Mended) -> tuple[str, Turn | None]:
    """Return the reply of a round and the tool that it asks for, if it asks for one.

    `text`: the answer without tools; `mended`: makes one from a file that failed.
    """
    for one in request.rounds:
        (call,), (result,) = one.turn.calls, one.results
        if result.ok:
            return text, None
        text = mended(request.prompt.context, str((call.arguments or {})[SOURCE]), result.text)
    found = reply.candidate(text)
    if not request.tools or request.last_round or not isinstance(found, reply.Found):
        return text, None
    number = f"check-{request.round}"
    said = f"First a check: {text.partition(chr(10))[0]}"
    turn = Turn([{"call": number}], (Call(number, CHECK, {SOURCE: found.source}),), said)
    return said, turn
