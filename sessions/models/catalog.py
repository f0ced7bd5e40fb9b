"""Names to models: the settings' tables, the built-in ones, and vendors' own names.

| name | is |
| --- | --- |
| a table `[models.NAME]` | what it says |
| `offline`, `recorded`, `replay:SESSION`, `scripted:FILE` | built in, no key |
| `mcp`, `files` | built in: external agents answer, or whoever lays files into the session's folder |
| `claude-…`; `gemini-…`; `gpt-…`, `o3…`; `VENDOR/MODEL` | Anthropic; Google; OpenAI; OpenRouter, with its key |
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.models.clients import ClientsModel
from sessions.models.files import FilesModel
from sessions.models.limiter import Limiters
from sessions.models.model_settings import PROVIDERS, ModelSettings, of_vendor_name, read_table
from sessions.models.offline import OfflineModel
from sessions.models.port import ModelRefused
from sessions.models.recorded import RecordedModel
from sessions.models.replay import ReplayModel
from sessions.models.scripted import ScriptedModel, read_script
from sessions.models.vendors import network_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.models.model_settings import Table
    from sessions.models.port import LanguageModel

BUILT_IN = ("offline", "recorded", "replay:SESSION", "mcp", "files", "scripted:FILE")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Every model a person can name."""

    tables: Mapping[str, Table] = field(default_factory=dict[str, "Table"])
    """`[models.NAME]` of the settings."""
    env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """Where keys are."""
    journal_of: Callable[[str], Path] | None = None
    """A session's journal, for `replay:SESSION`; may raise for a session that does not exist."""
    limiters: Limiters = field(default_factory=Limiters)
    artifacts: Path | None = None
    """The session's folder of artifacts, for `files`; None where nothing is asked yet."""

    def resolve(self, name: str) -> LanguageModel:
        """Return the model of a name.

        Raises:
            ModelRefused: no such model (with the nearest names), no key (with the variable that is
                missing), or a table that cannot be used.
        """
        if name in self.tables:
            return self._vendor(name, read_table(name, self.tables[name]))
        built_in = self._built_in(name)
        if built_in is not None:
            return built_in
        known = of_vendor_name(name)
        if known is None:
            raise ModelRefused(self._unknown(name), "unknown_model")
        return self._vendor(name, known)

    def keys_found(self) -> list[str]:
        """Return the variables that hold keys, of the vendors and the settings' tables."""
        names = [name for provider in PROVIDERS.values() for name in provider.keys]
        named = [str(table["key_env"]) for table in self.tables.values() if table.get("key_env")]
        return [name for name in dict.fromkeys([*names, *named]) if self.env.get(name)]

    def names(self) -> list[str]:
        """Return the names that can be typed as they are: tables and built-in ones."""
        return [*self.tables, *BUILT_IN]

    def none_given(self) -> str:
        """Return the message for a search without `--model`."""
        keys = self.keys_found()
        found = f"keys found: {', '.join(keys)}" if keys else "no key found"
        return (
            f"no model is set; {found}. Give --model NAME (a vendor's name such as claude-…, gpt-… or "
            f"gemini-…, a [models.NAME] of the settings, or offline, which needs no key)."
        )

    def _built_in(self, name: str) -> LanguageModel | None:
        kind, _, rest = name.partition(":")
        match kind:
            case "offline" if not rest:
                return OfflineModel()
            case "recorded" if not rest:
                return RecordedModel()
            case "replay":
                return self._replay(rest)
            case "scripted":
                if not rest:
                    raise ModelRefused("scripted needs a file: scripted:FILE.json", "bad_settings")
                return ScriptedModel(read_script(Path(rest)), name=name)
            case "mcp" if not rest:
                return ClientsModel()
            case "files" if not rest:
                return FilesModel(self.artifacts)
            case _:
                return None

    def _replay(self, session: str) -> LanguageModel:
        if not session or self.journal_of is None:
            raise ModelRefused("replay needs a session: replay:SESSION", "bad_settings")
        return ReplayModel(session, self.journal_of(session))

    def _vendor(self, name: str, settings: ModelSettings) -> LanguageModel:
        return network_model(name, settings, self.env, self.limiters)

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self.names(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}?" if near else "."
        listed = ", ".join(self.names())
        return (
            f"no model is called {name!r}{hint} Known: {listed}, and vendors' own names "
            f"(claude-…, gemini-…, gpt-…, VENDOR/MODEL)."
        )


def resolve(
    name: str,
    tables: Mapping[str, Table],
    env: Mapping[str, str] | None = None,
    journal_of: Callable[[str], Path] | None = None,
) -> LanguageModel:
    """Return the model of a name; `Catalog.resolve` for one name.

    Raises:
        ModelRefused: as there.
    """
    return Catalog(tables, os.environ if env is None else env, journal_of).resolve(name)


def keys_found(env: Mapping[str, str]) -> list[str]:
    """Return the vendors' variables that hold keys."""
    return Catalog(env=env).keys_found()
