"""The one place that knows every concrete class: a session's folder to an engine that can run it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import prompts
from sessions.best import best
from sessions.engine import Engine
from sessions.fold import fold
from sessions.journal import Journal, Reader
from sessions.lineage import Lineages
from sessions.mcp_evaluator import McpEvaluator, child, default_places
from sessions.redact import Redactor, secrets_of
from sessions.storage import storage_of
from strategies import registry
from workbench import config, kept_models, machine, model_choice, story
from workbench.errors import CannotGoOn
from workbench.notices import Notices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.models.port import LanguageModel
    from strategies.protocol import Strategy


@dataclass(frozen=True, slots=True)
class Composed:
    """An engine, and what tells the person's command."""

    engine: Engine
    notices: Notices


async def open_engine(folder: SessionFolder) -> Composed:
    """Return the engine of a session, from what its journal says was decided at its start.

    Raises:
        WorkbenchError: a model cannot be asked, or the machine cannot evaluate.
        sessions.journal.JournalError: the journal cannot be used.
    """
    opened = _opened(folder)
    models = _models(folder, opened)
    found = machine.look(opened.python)
    engine: Engine
    notices = Notices(opened.notify, opened.session, lambda: _best(engine))
    engine = Engine(
        folder,
        await Journal.open(folder.journal, wal=not storage_of(folder.path).network),
        _strategy(opened),
        models,
        _evaluator(opened),
        Lineages(folder.lineage),
        prompts.load(),
        machine.languages(found, opened.device),
        redactor=_redactor(folder),
        notify=notices,
    )
    return Composed(engine, notices)


def _opened(folder: SessionFolder) -> Opened:
    with Reader(folder.journal) as reader:
        state = fold(reader.facts())
    if state.opened is None:
        raise CannotGoOn(f"{folder.journal} holds no session: it is empty.")
    return state.opened


def _strategy(opened: Opened) -> Strategy:
    return registry.create(opened.strategy, opened.settings, opened.seed)


def _models(folder: SessionFolder, opened: Opened) -> dict[str, LanguageModel]:
    known = model_choice.catalog(_tables(folder))
    names = kept_models.each(opened.models)
    return {name: model_choice.resolve(known, name) for name in names}


def _redactor(folder: SessionFolder) -> Redactor:
    named = [str(table["key_env"]) for table in _tables(folder).values() if table.get("key_env")]
    return Redactor(secrets_of(os.environ, named))


def _tables(folder: SessionFolder) -> dict[str, Mapping[str, object]]:
    """The tables `[models.NAME]`: those kept with the session before those of the settings here."""
    return {**config.load().models, **kept_models.tables_of(folder)}


def _evaluator(opened: Opened) -> McpEvaluator:
    return child(
        sandbox=opened.sandbox,
        python=opened.python,
        device=opened.device,
        places=default_places(opened.device),
    )


def _best(engine: Engine) -> str:
    top = best(engine.state)
    return f"best {top.id}: {story.headline(top.verdict)}" if top else "nothing is correct"
