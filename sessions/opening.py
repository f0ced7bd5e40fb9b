"""Opens the models that a person names while the search runs, before anything is changed."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sessions import tool_rounds
from sessions.answering import Opened, Outside
from sessions.answers import CASCADE_LIMIT
from sessions.models.port import MAX_TOKENS, ModelError
from sessions.models.thinking import bound
from sessions.steering import ALL_ROLES, IDEAS_MODEL, MODEL_ROLES
from strategies.fixing import IMPROVE_MODEL
from strategies.protocol import Agent, Candidate, Context, Prompt, PromptRole

if TYPE_CHECKING:
    from sessions.journal import Command
    from sessions.model import State
    from sessions.models.port import LanguageModel
    from sessions.parts import Parts

log = logging.getLogger(__name__)

NAMING = ("model", "fork")
"""Acts that name a model."""
OF_ITS_START = "the engine has the keys of its start: with a new one, stop and resume the search"


async def outside(parts: Parts, command: Command, seats: int) -> Outside:
    """Return what the rules must know besides the facts; a model that can be asked is open afterwards."""
    named = str(command.args.get("model") or "") if command.act in NAMING else ""
    names = [name for name in dict.fromkeys(named.split(",")) if name]
    role = str(command.args.get("role") or "") if command.act == "model" else IMPROVE_MODEL
    models = {name: await _opened(parts, name, role) for name in names[:CASCADE_LIMIT]}
    return Outside(seats, _unpriced(parts), models)


def is_priced(model: LanguageModel) -> bool:
    """Return whether a model's price is known, so that a dollar limit can hold."""
    context = Context("", Candidate("c0", "", "", None), "cpu", "", (), "half", "budget")
    shortest = Prompt(PromptRole.IDEAS, Agent.IBA, "", context)
    return model.estimate_usd(shortest, MAX_TOKENS) is not None


def names_in(state: State) -> list[str]:
    """Return the models that the rest of a search may ask: of each role, of forks, of queries in flight, of rounds."""
    roles = [name for entry in state.models.values() for name in entry.split(",")]
    forks = [str(record.proposal.meta.get("model") or "") for record in state.open]
    sent = [query.model for query in state.in_flight]
    talking = [state.queries[record.queries[-1]] for record in state.open if record.queries]
    rounds = [query.model for query in talking if query.goes_on or query.round > 1]
    return [name for name in dict.fromkeys([*roles, *forks, *sent, *rounds]) if name]


async def _opened(parts: Parts, name: str, role: str) -> Opened:
    if name not in parts.models:
        try:
            parts.models[name] = await asyncio.to_thread(_open, parts, name)
        except ModelError as error:
            hint = f" ({OF_ITS_START})" if error.code == "bad_key" else ""
            return Opened(trouble=parts.redactor.text(f"{error}{hint}"))
        except Exception as error:  # noqa: BLE001 - the engine's step: a name must not end a search
            log.warning("the model %r cannot be opened: %r", name, error)
            return Opened(trouble=parts.redactor.text(f"{name[:40]!r} cannot be used: {error}"))
    model = parts.models[name]
    trouble = _cannot_call_tools(parts, model, role) or _cannot_think(parts, model, role)
    return Opened(model.label, is_priced(model), trouble=trouble)


def _open(parts: Parts, name: str) -> LanguageModel:
    if parts.open_model is None:
        raise LookupError("no model can be added to this engine")
    return parts.open_model(name)


def _cannot_call_tools(parts: Parts, model: LanguageModel, role: str) -> str:
    """Return why a model cannot be COA or EFA of this search, whose agents call tools; empty: it can."""
    if role == IDEAS_MODEL or model.calls_tools or tool_rounds.limit(parts.state) == 0:
        return ""
    return (
        f"the agents of this search call tools (agent_tools), and {model.name} cannot be offered any: name a model "
        "that can, or start another search without agent_tools"
    )


def _cannot_think(parts: Parts, model: LanguageModel, role: str) -> str:
    """Return why a model cannot think as this search began with; empty: it can."""
    roles = MODEL_ROLES if role == ALL_ROLES else (role,)
    try:
        for each in roles:
            bound(model, parts.opened.thinking.get(each, ""))
    except ModelError as error:
        return parts.redactor.text(str(error))
    return ""


def _unpriced(parts: Parts) -> bool:
    """Whether a dollar limit could not hold: something of unknown cost was paid, or may be asked next."""
    state = parts.state
    models = [parts.models[name] for name in names_in(state) if name in parts.models]
    return state.spending.unpriced > 0 or not all(map(is_priced, models))
