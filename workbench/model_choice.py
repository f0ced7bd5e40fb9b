"""Which language model answers which agent, checked before a session starts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.experiments.plan import LABELS as OF_EXPERIMENTS
from sessions.models import thinking as levels
from sessions.models.catalog import Catalog
from sessions.models.port import MAX_TOKENS, ModelRefused
from strategies.options import held
from strategies.protocol import Agent, Candidate, Context, Prompt, PromptRole
from workbench.budgets import unpriced_outside
from workbench.errors import CannotGoOn, WrongUsage
from workbench.kept_models import each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.models.port import LanguageModel
    from workbench.config import Settings


@dataclass(frozen=True, slots=True)
class Choice:
    """The models of a session."""

    models: dict[str, str]
    """Role (`ideas`, `improve`, `fix`) to name; a cascade is comma-separated."""
    labels: dict[str, str]
    """Name to what a person should read."""
    thinking: dict[str, str]
    """Role to how long its models think; a role that is not there: as the vendor does by itself."""


def catalog(tables: Mapping[str, Mapping[str, object]], artifacts: Path | None = None) -> Catalog:
    """Return every model that can be named here; `artifacts`: of the session that asks them."""
    return Catalog(tables, os.environ, _journal_of, artifacts=artifacts)


FIELDS = {"improve": "model", "ideas": "ideas_model", "fix": "fix_model"}
"""The setting that names the model of each role."""


def choose(settings: Settings, at: Callable[[str], None] = lambda _: None) -> Choice:
    """Return the models that the settings name, each of which can be asked.

    `at`: told the setting that is looked at.

    Raises:
        WrongUsage: none is set, or a name is unknown.
        CannotGoOn: a key is missing, or a dollar limit holds for a model of unknown price.
    """
    at("model")
    known = catalog(settings.models)
    model = settings.text("model")
    names = {
        "ideas": absolute(settings.text("ideas_model") or model),
        "improve": absolute(model),
        "fix": ",".join(
            absolute(name.strip()) for name in (settings.text("fix_model") or model).split(",")
        ),
    }
    if not model:
        raise WrongUsage(known.none_given())
    for role, field in FIELDS.items():
        at(field)
        _check_commas(role, names[role])
    resolved: dict[str, LanguageModel] = {}
    for role, field in FIELDS.items():
        at(field)
        resolved |= {name: resolve(known, name) for name in each({role: names[role]})}
    at("thinking")
    thinking = _thinking(settings.text("thinking"))
    for role, level in list(thinking.items()):
        thinks = [_thinks(resolved[name], level) for name in each({role: names[role]})]
        if not any(thinks):
            del thinking[role]
    at("cost")
    _check_prices(resolved, settings)
    labels = {n: found.label for n, found in resolved.items() if n not in OF_EXPERIMENTS}
    return Choice(names, labels, thinking)


def _thinking(said: str) -> dict[str, str]:
    """Return role to level: one level for all agents, or `ROLE=LEVEL,ROLE=LEVEL`.

    Raises:
        WrongUsage: no such role, or no such level.
    """
    pairs = said.split(",") if "=" in said else [f"{role}={said}" for role in FIELDS]
    found: dict[str, str] = {}
    for pair in pairs:
        role, _, level = (part.strip() for part in pair.partition("="))
        if role not in FIELDS:
            raise WrongUsage(f"--thinking {said!r}: {role!r} is no agent: {', '.join(FIELDS)}.")
        try:
            found[role] = levels.read(level)
        except ModelRefused as error:
            raise WrongUsage(f"--thinking {said!r}: {error}.") from error
    return {role: level for role, level in found.items() if level}


def _thinks(model: LanguageModel, level: str) -> bool:
    """Return whether a model can be told to think so long; False: there is nothing to tell.

    Raises:
        WrongUsage: it cannot, though it was asked to.
    """
    if not isinstance(model, levels.Thinks):
        if level == levels.OFF or model.name.startswith("replay:"):
            return False
        raise WrongUsage(
            f"--thinking {level}: {model.name} is no reasoning model. Leave it out, or say default."
        )
    try:
        model.thinking(level)
    except ModelRefused as error:
        raise WrongUsage(f"--thinking {level}: {error}.") from error
    return True


def _check_commas(role: str, names: str) -> None:
    flag = f"--{FIELDS[role].replace('_', '-')}"
    if "," in names and role != "fix":
        raise WrongUsage(f"{flag} {names!r}: several models, cheapest first, are for --fix-model.")
    if not all(names.split(",")):
        raise WrongUsage(f"{flag} {names!r}: name a model before and after each comma.")


def resolve(known: Catalog, name: str) -> LanguageModel:
    """Return the model of a name.

    Raises:
        WrongUsage: no such model.
        CannotGoOn: it cannot be asked: its key is missing.
    """
    try:
        return known.resolve(name)
    except ModelRefused as error:
        kind = WrongUsage if error.code in ("unknown_model", "bad_settings") else CannotGoOn
        raise kind(str(error)) from error


def _check_prices(resolved: Mapping[str, LanguageModel], settings: Settings) -> None:
    limit = settings.number("cost")
    if settings.values["cost"].origin == "default" and unpriced_outside(list(resolved)):
        return  # `budgets.of_session` takes the default away
    unpriced = [
        n for n, m in resolved.items() if m.estimate_usd(sample_prompt(), MAX_TOKENS) is None
    ]
    if limit is not None and unpriced:
        raise CannotGoOn(
            f"the price of {', '.join(unpriced)} is unknown, so a limit of $ {limit:g} cannot hold. Set price_in and "
            f"price_out in [models.{unpriced[0]}], or take the limit away with --cost none."
        )


def check_tools(choice: Choice, settings: Settings, complete: Mapping[str, object]) -> None:
    """Refuse tools for models that cannot call them.

    `complete`: the strategy's settings and options.

    Raises:
        WrongUsage: the options ask for tools, and no agent that would have them can call any.
    """
    if not held(complete).agent_tools:
        return
    agents = {role: choice.models.get(role, "") for role in TOOL_ROLES}
    if not any(agents.values()):
        raise WrongUsage(
            "agent_tools: this search asks no model, so there is nobody to call tools. Whoever hands in attempts has "
            "the tools of `pike mcp`."
        )
    known = catalog(settings.models)
    unable = [n for n in each(agents) if not resolve(known, n).calls_tools]
    if unable:
        raise WrongUsage(
            f"agent_tools: the model {unable[0]} cannot be offered tools: whoever answers for it is given prompts, and "
            "gives texts back. Leave agent_tools out, or name another model (offline can be tried without a key)."
        )


TOOL_ROLES = ("improve", "fix")
"""COA's and EFA's: IBA answers at once."""


def sample_prompt() -> Prompt:
    """Return a prompt to ask prices with."""
    """The shortest prompt there is, to ask what one would cost."""
    context = Context("", Candidate("c0", "", "", None), "cpu", "", (), "half", "budget")
    return Prompt(PromptRole.IDEAS, Agent.IBA, "", context)


def absolute(name: str) -> str:
    """A script's path must hold in the engine too, which starts elsewhere."""
    kind, _, rest = name.partition(":")
    return f"{kind}:{Path(rest).expanduser().absolute()}" if kind == "scripted" and rest else name


def _journal_of(session: str) -> Path:
    return folders.find(folders.sessions_root(), session).journal
