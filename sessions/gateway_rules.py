"""What the gateway answers and refuses: pure functions of a session's state and its journal.

Each refusal ends with what the agent can do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_server.contract import SessionsRefused
from sessions import commands, outside
from sessions.leases import Taken
from sessions.states import SessionState

if TYPE_CHECKING:
    from mcp_server.contract import SessionCaller
    from sessions.journal import Reader
    from sessions.model import State

NAME_LIMIT = 60
_AGENTS_OF_OURS = ("iba", "coa", "efa", "human", "engine", "pike")


def standing_of(job: str, state: State, reader: Reader) -> dict[str, Any]:
    """Return how a submission stands.

    Raises:
        SessionsRefused: the search did not take it, or there is none.
    """
    record = outside.by_job(state, job)
    if record is not None and record.closed not in outside.CLOSED:
        return outside.standing(state, record)
    if any(command.args.get("job") == job for command in reader.waiting_commands()):
        return {"session_id": state.name, "state": "queued"}
    if record is not None:
        return outside.standing(state, record)
    refused = [s for s in state.steers.values() if s.args.get("job") == job and not s.applied]
    if refused:
        raise SessionsRefused(f"{state.name} did not take it: {refused[-1].why}.")
    twin = [s for s in state.steers.values() if s.args.get("job") == job and s.applied]
    names = twin[-1].args.get("proposals", ()) if twin else ()
    if not names:
        raise SessionsRefused(f"There is no job {job!r}: submit_attempt again returns it.")
    return outside.standing(state, state.trajectories[names[0]])


def check_open(state: State) -> None:
    """Refuse what a search cannot take now.

    Raises:
        SessionsRefused: it is no external search, paused, or over.
    """
    name = state.name
    if not outside.is_external(state):
        raise SessionsRefused(
            f"{name} is driven by {state.opened.strategy if state.opened else 'nobody'}: submit_attempt is for a "
            "session of open_session."
        )
    match state.state:
        case SessionState.FINISHED:
            raise SessionsRefused(f"{name} is finished: {state.cause}. open_session makes another.")
        case SessionState.PAUSED:
            who = state.cause_author or "by itself"
            raise SessionsRefused(
                f"{name} is paused ({who}: {state.cause}). Keep the attempt, ask get_session until it runs again, "
                "then submit it."
            )
        case SessionState.STOPPED if state.code == "asked":
            raise SessionsRefused(
                f"{name} was stopped ({state.cause}). Ask the person who watches to resume it."
            )
        case _:
            return


def asked(state: State, reader: Reader) -> list[str]:
    """Return the queries that wait for an agent.

    Raises:
        SessionsRefused: its model is not `mcp`, or it is paused or over.
    """
    if "mcp" not in ",".join(state.models.values()).split(","):
        raise SessionsRefused(
            f"{state.name} does not ask agents for replies (its model is not mcp): next_prompt is for sessions that a "
            "person started with --model mcp."
        )
    if state.state in (SessionState.PAUSED, SessionState.FINISHED):
        raise SessionsRefused(
            f"{state.name} is {state.state.value}: {state.cause}. No prompts now."
        )
    sent = _answered(reader)
    return [query for query in outside.prompts_of(state) if query not in sent]


def _answered(reader: Reader) -> set[str]:
    """Return the queries whose answers no engine has taken up yet."""
    waiting = (c for c in reader.waiting_commands() if c.act == commands.REPLY)
    return {str(c.args.get("query")) for c in waiting}


def prompts_given(given: list[str], state: State, reader: Reader) -> list[dict[str, Any]]:
    """Return leased prompts as agents get them."""
    queries = [state.queries[name] for name in given]
    return [
        {"prompt_id": f"{state.name}:{q.id}", "role": q.role, "text": reader.text(q.prompt_key)}
        for q in queries
    ]


def ended(query: str, state: State, reader: Reader) -> tuple[str, int]:
    """Return how a query ended, if it did: its answer, or `not wanted any more`."""
    del reader
    found = state.queries.get(query)
    if found is None or found.model != "mcp":
        raise unknown_prompt(f"{state.name}:{query}")
    return found.end if found.end in ("", "done") else "not wanted any more", state.seq


def left(query: str, state: State, reader: Reader) -> dict[str, Any]:
    """Return what is left to answer after a query, whether or not the engine has taken up its answer by now."""
    given = _answered(reader) | {query}
    asked_for = list(outside.prompts_of(state))
    waiting = [each for each in asked_for if each not in given]
    limit, spent = state.limits.get("queries"), len(asked_for) - len(waiting)
    queries = None if limit is None else max(0, int(limit) - state.spending.queries - spent)
    return {"queries_left": queries, "prompts_waiting": len(waiting)}


def check_taken(taken: Taken, prompt_id: str) -> None:
    """Refuse an answer that is not the caller's to give.

    Raises:
        SessionsRefused: another agent was first, or the caller never had the prompt.
    """
    if taken is Taken.UNKNOWN:
        raise unknown_prompt(prompt_id)
    if taken is Taken.BY_ANOTHER:
        raise SessionsRefused(
            f"{prompt_id} was answered by another agent after your lease was over: next_prompt has others."
        )


def unknown_prompt(prompt_id: str) -> SessionsRefused:
    """Return the refusal of a prompt that the caller was not given."""
    return SessionsRefused(
        f"There is no prompt {prompt_id!r} of yours: next_prompt hands them out."
    )


def author_of(caller: SessionCaller) -> str:
    """Return how a caller's program is named in the search: never as one of our own agents."""
    kept = "".join(c for c in caller.client if c.isprintable()).strip()[: NAME_LIMIT - 10]
    if not kept:
        return "agent"
    return f"{kept} (client)" if kept.lower() in _AGENTS_OF_OURS else kept
