"""The one place that knows every concrete class: a session's folder to an engine that can run it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions import endpoints, opening, prompts, strategy_choice
from sessions.best import best
from sessions.engine import Engine
from sessions.experiments.sharing import Shares
from sessions.fold import fold
from sessions.journal import Journal, Reader
from sessions.lineage import Lineages
from sessions.models.port import ModelRefused
from sessions.models.recorded import refusal
from sessions.redact import Redactor, secrets_of
from sessions.storage import storage_of
from workbench import carried_task, config, kept_models, machine, model_choice, story
from workbench.errors import CannotGoOn
from workbench.notices import Notices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.evaluator import Evaluator
    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.model import State
    from sessions.models.catalog import Catalog
    from sessions.models.port import LanguageModel


@dataclass(frozen=True, slots=True)
class Composed:
    """An engine, and what tells the person's command."""

    engine: Engine
    notices: Notices


async def open_engine(folder: SessionFolder, *, step: bool = False) -> Composed:
    """Return the engine of a session, from what its journal says was decided at its start.

    `step`: it ends where only others can go on.

    Raises:
        WorkbenchError: a model cannot be asked, or the machine cannot evaluate.
        sessions.journal.JournalError: the journal cannot be used.
    """
    state = _state(folder)
    opened = state.opened
    if opened is None:
        raise CannotGoOn(f"{folder.journal} holds no session: it is empty.")
    strategy = strategy_choice.of_session(
        opened
    )  # refused before a journal is open, which nobody would close
    shares = Shares.of(folder, opened)
    all_here = model_choice.catalog(_tables(folder), folder.artifacts)
    known = replace(all_here, limiters=shares.limiters)
    models = {n: shares.model(model_choice.resolve(known, n)) for n in opening.names_in(state)}
    carried_task.bring(folder, opened)
    there = opened.executor or endpoints.elsewhere(_tables_of_evaluators(opened))
    found = machine.ELSEWHERE if there else machine.look(opened.python)
    engine: Engine
    notices = Notices(opened.notify, opened.session, lambda: _best(engine))
    engine = Engine(
        folder,
        await Journal.open(folder.journal, wal=not storage_of(folder.path).network),
        strategy,
        models,
        shares.evaluator(_evaluator(opened, shares)),
        Lineages(folder.lineage),
        prompts.load(),
        machine.languages(found, opened.device),
        open_model=lambda name: shares.model(_open_model(folder, opened, known, name)),
        redactor=_redactor(folder),
        notify=notices,
        step=step,
    )
    return Composed(engine, notices)


def _state(folder: SessionFolder) -> State:
    with Reader(folder.journal) as reader:
        return fold(reader.facts())


def _open_model(folder: SessionFolder, opened: Opened, known: Catalog, name: str) -> LanguageModel:
    """Open a model that a person names while the search runs, by the settings of now; its table stays with the session.

    `known`: the catalog of the engine's start, whose limiters are one per provider.

    Raises:
        ModelRefused: no such model, no key, or a table that cannot be used.
        WorkbenchError: the settings cannot be read.
    """
    found = replace(known, tables=_tables(folder)).resolve(name)
    why = refusal(opened.task, opened.device.partition(":")[0]) if name == "recorded" else ""
    if why:
        raise ModelRefused(why, "unknown_model")
    kept_models.keep(folder, [name], config.load().models)
    return found


def _redactor(folder: SessionFolder) -> Redactor:
    named = [str(table["key_env"]) for table in _tables(folder).values() if table.get("key_env")]
    named += [one.token_env for one in endpoints.read(config.load().evaluators) if one.token_env]
    return Redactor(secrets_of(os.environ, named))


def _tables(folder: SessionFolder) -> dict[str, Mapping[str, object]]:
    """The tables `[models.NAME]`: those kept with the session before those of the settings here."""
    return {**config.load().models, **kept_models.tables_of(folder)}


def _evaluator(opened: Opened, shares: Shares) -> Evaluator:
    here = endpoints.Here(
        opened.sandbox, opened.python, opened.device, opened.executor, shares.machine
    )
    return endpoints.pool(_tables_of_evaluators(opened), here, os.environ)


def _tables_of_evaluators(opened: Opened) -> tuple[endpoints.EndpointSettings, ...]:
    """The tables `[evaluators.NAME]`, none for a session whose cluster was chosen at its start."""
    return () if opened.executor else endpoints.read(config.load().evaluators)


def _best(engine: Engine) -> str:
    top = best(engine.state)
    return f"best {top.id}: {story.headline(top.verdict)}" if top else "nothing is correct"
