"""The tables `[evaluators.NAME]` of the settings, read and checked, and the evaluators they name.

| keys | the evaluator |
| --- | --- |
| none | of this machine: a child process |
| `executor` | of a cluster: a child process that has its machines evaluate: `ray`, `ray://HEAD` |
| `command` | a program on stdio: `["ssh", "gpu2", "pike", "mcp", "--engine"]` |
| `url`, `token_env` | a server over HTTP; the variable holds its token |
| `device`, `places` | what the session's device is called there; how many candidates it takes at once |

All sessions of a user share the places of this machine, device by device.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sessions import mcp_evaluator
from sessions.errors import StartRefused
from sessions.evaluator_pool import Endpoint, EvaluatorPool
from sessions.experiments.places import Pool, placed_evaluator

if TYPE_CHECKING:
    from sessions.evaluator import Evaluator
    from sessions.machine_places import MachinePlaces
    from sessions.mcp_evaluator import McpEvaluator

KEYS = ("command", "url", "token_env", "executor", "device", "places")
PLACES = 4
"""Of an endpoint whose table does not say."""
CLUSTER_PLACES = 16
"""Of a cluster whose table does not say: as many jobs as its server runs for one caller."""
LOCAL, RAY = "local", "ray"

Tables = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """One table."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    token_env: str = ""
    executor: str = ""
    """What the evaluator of here has evaluate; empty: this machine."""
    device: str = ""
    places: int = 0
    """0: `PLACES`, `CLUSTER_PLACES`, or what fits this machine."""

    @property
    def is_here(self) -> bool:
        """Whether it is this machine's."""
        return not self.command and not self.url and not self.executor


def read(tables: Tables) -> tuple[EndpointSettings, ...]:
    """Return what the tables say.

    Raises:
        StartRefused: a key that is not known, or a value of the wrong kind; which, where.
    """
    return tuple(_read(name, table) for name, table in tables.items())


def elsewhere(settings: tuple[EndpointSettings, ...]) -> bool:
    """Return whether nothing is evaluated on this machine."""
    return bool(settings) and not any(one.is_here for one in settings)


def checked_executor(where: str, said: str) -> str:
    """Return what evaluates, empty for this machine.

    Raises:
        StartRefused: `said` names no executor.
    """
    if said in ("", LOCAL):
        return ""
    if said != RAY and not re.fullmatch(r"ray://[A-Za-z0-9._\[\]:-]{1,253}", said):
        raise StartRefused(
            f"{where}: {said!r} is no executor; there are local, ray and ray://HEAD[:PORT]"
        )
    return said


def pool(
    settings: tuple[EndpointSettings, ...], here: Here, environ: Mapping[str, str]
) -> Evaluator:
    """Return the evaluator of a session: this machine's, or the cluster's it names, where no table says otherwise.

    Raises:
        StartRefused: a variable that should hold a token is empty.
    """
    if not settings:
        return here.evaluator()
    return EvaluatorPool([_endpoint(one, here, environ) for one in settings])


@dataclass(frozen=True, slots=True)
class Here:
    """How this machine evaluates for a session."""

    sandbox: str
    python: str
    device: str
    executor: str = ""
    """What its evaluator has evaluate; empty: this machine."""
    shared: MachinePlaces | None = None
    """Where all sessions of this machine take their places; None: nowhere."""

    def evaluator(self) -> Evaluator:
        """Return the evaluator of a session that has no table, not yet started."""
        return self.program(self.executor) if self.executor else self.child(0)

    def child(self, places: int, device: str = "") -> Evaluator:
        """Return this machine's evaluator; each job takes a place that all its sessions share."""
        found = self.program("", places, device)
        if self.shared is None:
            return found
        name = f"evaluations on {device or self.device}"
        return placed_evaluator(found, Pool(self.shared, name, found.places))

    def program(self, executor: str = "", places: int = 0, device: str = "") -> McpEvaluator:
        """Return an evaluator that this machine starts; the machines of a cluster keep their own places."""
        at = device or self.device
        usual = CLUSTER_PLACES if executor else mcp_evaluator.default_places(at)
        return mcp_evaluator.child(
            sandbox=self.sandbox,
            python=self.python,
            device=at,
            places=places or usual,
            executor=executor,
        )


def _endpoint(one: EndpointSettings, here: Here, environ: Mapping[str, str]) -> Endpoint:
    return Endpoint(one.name, _evaluator(one, here, environ), one.device)


def _evaluator(one: EndpointSettings, here: Here, environ: Mapping[str, str]) -> Evaluator:
    return here.child(one.places, one.device) if one.is_here else program(one, here, environ)


def program(one: EndpointSettings, here: Here, environ: Mapping[str, str]) -> McpEvaluator:
    """Return the evaluator that a table names, its places shared with nobody.

    Raises:
        StartRefused: a variable that should hold a token is empty.
    """
    places = one.places or PLACES
    if one.command:
        return mcp_evaluator.command(one.command, places=places, name=one.name)
    if not one.url:
        return here.program(one.executor, one.places, one.device)
    token = environ.get(one.token_env, "") if one.token_env else ""
    if one.token_env and not token:
        raise StartRefused(
            f"[evaluators.{one.name}]: the variable {one.token_env} is empty; put the server's token there"
        )
    return mcp_evaluator.remote(one.url, token, places=places, name=one.name)


def _read(name: str, table: Mapping[str, Any]) -> EndpointSettings:
    where = f"[evaluators.{name}]"
    for key in table:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(KEYS)}"
            raise StartRefused(f"{where} has no key {key!r}{hint}")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise StartRefused(f"{where}: a name has letters, digits, - and _ only")
    found = EndpointSettings(
        name=name,
        command=_words(where, table.get("command")),
        url=_text(where, table, "url"),
        token_env=_text(where, table, "token_env"),
        executor=checked_executor(where, _text(where, table, "executor")),
        device=_text(where, table, "device"),
        places=_places(where, table.get("places", 0)),
    )
    _check(where, found)
    return found


def _check(where: str, found: EndpointSettings) -> None:
    if sum(map(bool, (found.command, found.url, found.executor))) > 1:
        raise StartRefused(f"{where}: give one of command, url and executor")
    if found.url and urlsplit(found.url).scheme not in ("http", "https"):
        raise StartRefused(f"{where}: url must begin with http:// or https://")
    if found.url and (urlsplit(found.url).query or urlsplit(found.url).username):
        raise StartRefused(f"{where}: a token belongs into a variable (token_env), not into url")
    if found.token_env and not found.url:
        raise StartRefused(f"{where}: token_env goes with url")


def _words(where: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    words = shlex.split(value) if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):  # pyright: ignore[reportUnknownVariableType] - checked here
        raise StartRefused(f"{where}: command is a line, or a list of words")
    return tuple(str(word) for word in words)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - as above


def _text(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise StartRefused(f"{where}: {key} must be text, not {value!r}")
    return value.strip()


def _places(where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1_000:
        raise StartRefused(f"{where}: places must be a whole number from 1 to 1000")
    return value
