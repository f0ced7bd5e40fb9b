"""An answer as it is kept: the fact that ends its query and the text, in one transaction, whoever brought it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions import facts as f
from sessions.journal import NewReply, key_of
from sessions.models.clients import ClientsModel
from sessions.models.port import Finish, Reply
from sessions.models.tools import as_text, of_text
from sessions.recorder import Entry
from sessions.samples import prompt_hash

if TYPE_CHECKING:
    from sessions.journal import Command, StoredReply
    from sessions.model import QueryRecord, State
    from sessions.models.tools import Turn
    from sessions.redact import Redactor

_USED = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd", "seconds")
_TURN = ("calls", "turn_key")
WORD_LIMIT = 100
"""Characters of a client's or a model's name."""


def kept(
    query: QueryRecord,
    reply: Reply,
    seconds: float,
    *,
    client: str = "",
    claimed: str = "",
    taken: int | None = None,
) -> Entry:
    """Return what belongs into the transaction that ends a query; `reply`: without secrets.

    `client`, `claimed`: who answered in the model's place, and as which model. `taken`: the command that brought it.
    """
    usage, turn = reply.usage, _turn(query, reply)
    kept_turn = as_text(turn) if turn else ""
    done = f.QueryDone(
        query=query.id,
        reply_key=key_of(reply.text),
        finish=reply.finish.value,
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=reply.cost_usd,
        seconds=round(seconds, 3),
        client=client[:WORD_LIMIT],
        claimed=claimed[:WORD_LIMIT],
        thinking_tokens=usage.thinking_tokens if usage else None,
        cache_write_tokens=usage.cache_write_tokens if usage else None,
        calls=[call.name[:WORD_LIMIT] for call in turn.calls] if turn else [],
        turn_key=key_of(kept_turn) if turn else "",
    )
    names = (*_USED, *(_TURN if turn else ()))
    usage_kept = {name: getattr(done, name) for name in names}
    key = prompt_hash(query.prompt_key, {})
    stored = NewReply(query.model, key, query.sample, reply.text, done.finish, usage_kept)
    texts = (kept_turn,) if turn else ()
    return Entry((done,), texts, reply=stored, taken=() if taken is None else (taken,))


def _turn(query: QueryRecord, reply: Reply) -> Turn | None:
    """Return the tools that an answer asks for; one that was cut off, or was offered none, asks for nothing."""
    return reply.turn if query.round and reply.finish is Finish.STOP else None


def replayed(query: str, stored: StoredReply) -> f.QueryDone:
    """Return the fact that ends a query whose answer was paid before."""
    calls, turn_key = (stored.usage.get(name) for name in _TURN)
    return f.QueryDone(
        query,
        key_of(stored.text),
        stored.finish,
        None,
        None,
        None,
        0.0,
        0.0,
        replayed=True,
        calls=list(calls or ()),
        turn_key=str(turn_key or ""),
    )


def clean(reply: Reply, redactor: Redactor) -> Reply:
    """Return an answer without secrets."""
    turn = reply.turn and of_text(json.dumps(redactor.data(json.loads(as_text(reply.turn)))))
    return replace(reply, text=redactor.text(reply.text), turn=turn)


def brought(state: State, command: Command, now: float) -> Entry:
    """Return what an external agent's answer comes to: it ends its query once; a later one changes nothing."""
    args = command.args
    query, text = state.asked_now.get(str(args.get("query"))), args.get("text")
    if query is None or query.model != ClientsModel.name or not isinstance(text, str):
        return Entry(taken=(command.id,))
    return kept(
        query,
        Reply(text, Finish.STOP),
        max(0.0, now - query.sent_at),
        client=str(args.get("client") or ""),
        claimed=str(args.get("model") or ""),
        taken=command.id,
    )
