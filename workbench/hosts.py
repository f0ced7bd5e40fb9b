"""The machines that evaluate, as whoever has them evaluate tells: of a cluster, of every `[evaluators.NAME]`, of here.

```
pike doctor --executor ray://HEAD ─┐
pike run --executor …             ─┼─▶ an evaluator (endpoints.py) ── kernel://hosts ──▶ HostFacts of each machine
pike doctor, with [evaluators.…]  ─┘
```
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions import endpoints
from sessions.errors import EvaluatorError, StartRefused
from workbench.errors import CannotGoOn, WrongUsage
from workbench.plain import first_line, inert_line
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.mcp_evaluator import McpEvaluator
    from workbench.config import Settings

HERE = "local"
WEAK = "process"
"""The sandbox level that fences nothing in."""
CPU = "cpu"
SEEN_S = 60.0
_seen: dict[tuple[str, str, str], tuple[float, Usable]] = {}
"""What a cluster said last, and when: an experiment asks for each of its configurations."""


@dataclass(frozen=True, slots=True)
class Place:
    """One device of a machine."""

    device: str
    model: str
    uuid: str
    free: int
    """How many more candidates it takes at once."""
    of: int
    """How many when nothing runs."""


@dataclass(frozen=True, slots=True)
class Host:
    """One machine, in inert text; empty where it did not say."""

    evaluator: str
    """Whose it is: the cluster, or the name of a table."""
    name: str
    pike: str = ""
    judge: str = ""
    """Digest of the programs that judge there: verdicts of two are not mixed."""
    python: str = ""
    torch: str = ""
    cuda: str = ""
    driver: str = ""
    sandbox: str = ""
    sandbox_missing: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    problem: str = ""
    """Why nothing is evaluated there; empty: it is used."""

    @property
    def gpus(self) -> tuple[Place, ...]:
        """Its GPUs."""
        return tuple(place for place in self.places if place.device != CPU)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of a machine that is used."""
        told: list[str] = []
        if self.pike and self.pike != version():
            told.append(f"it has pike {self.pike}, and {version()} is here: install one version")
        if self.sandbox == WEAK:
            told.append("no sandbox works there: candidates are not fenced in; install bubblewrap")
        return () if self.problem else tuple(told)


def of_executor(executor: str, settings: Settings) -> list[Host]:
    """Return the machines of a cluster, or this one.

    Raises:
        WrongUsage: it names no executor.
        CannotGoOn: it cannot be reached.
    """
    try:
        cluster = endpoints.checked_executor("--executor", executor)
    except StartRefused as error:
        raise WrongUsage(str(error)) from error
    name = cluster or HERE
    (asked,) = _ask({name: _here(settings).program(cluster)})
    if isinstance(asked, EvaluatorError):
        raise CannotGoOn(f"{name}: {first_line(str(asked), 400)}")
    return asked


def is_cluster(name: str) -> bool:
    """Return whether an executor is a cluster's: `ray`, `ray://HEAD`."""
    return name == endpoints.RAY or name.startswith(f"{endpoints.RAY}://")


def named(name: str, settings: Settings) -> list[Host]:
    """Return the machines of a table `[evaluators.NAME]`, or of an executor.

    Raises:
        WrongUsage: it names neither.
        CannotGoOn: the executor cannot be reached.
    """
    if name in settings.evaluators:
        return of_settings(replace(settings, evaluators={name: settings.evaluators[name]}))
    return of_executor(name, settings)


def of_settings(settings: Settings) -> list[Host]:
    """Return the machines of every `[evaluators.NAME]`; one that cannot be asked is a row that says why.

    Raises:
        sessions.errors.StartRefused: a table that cannot be meant, or an empty token.
    """
    here = _here(settings)
    read = endpoints.read(settings.evaluators)
    reached = {one.name: endpoints.program(one, here, os.environ) for one in read}
    found: list[Host] = []
    for name, asked in zip(reached, _ask(reached), strict=True):
        if isinstance(asked, EvaluatorError):
            found.append(Host(name, "", problem=first_line(str(asked), 400)))
        else:
            found += asked
    return found


@dataclass(frozen=True, slots=True)
class Usable:
    """The machines of a cluster that will do."""

    hosts: tuple[Host, ...]
    told: str
    """What a person should know of them, and of those left out."""


def usable(executor: str, settings: Settings) -> Usable:
    """Return the machines of a cluster that can evaluate; an answer counts for a minute: joining takes long.

    Raises:
        CannotGoOn: it cannot be reached, or none of its machines will do.
    """
    asked, now = (executor, settings.text("python"), settings.text("sandbox")), time.monotonic()
    if asked not in _seen or now - _seen[asked][0] > SEEN_S:
        _seen[asked] = (now, _usable(executor, settings))
    return _seen[asked][1]


def _usable(executor: str, settings: Settings) -> Usable:
    found = named(executor, settings)
    used = tuple(host for host in found if not host.problem)
    if not used:
        why = "; ".join(f"{host.name}: {host.problem}" for host in found) or "it has none"
        raise CannotGoOn(f"no machine of {executor} can evaluate: {why}.")
    told = [f"{host.name} is left out: {host.problem}" for host in found if host.problem]
    told += [f"{host.name}: {warning}" for host in used for warning in host.warnings]
    return Usable(used, "; ".join(filter(None, [*told, mixed(found)])))


def models(hosts: Iterable[Host]) -> dict[str, int]:
    """Return each model of GPU that is used, and how many there are of it."""
    counted: dict[str, int] = {}
    for host in hosts:
        for gpu in () if host.problem else host.gpus:
            counted[gpu.model] = counted.get(gpu.model, 0) + 1
    return counted


def mixed(hosts: Iterable[Host]) -> str:
    """Return what follows from GPUs of several models; empty where there is one."""
    found = models(hosts)
    if len(found) < 2:
        return ""
    told = ", ".join(f"{count} × {name}" for name, count in found.items())
    return f"there are {told}: a session stays on the model of its first verdict"


def device(hosts: Iterable[Host], wanted: str) -> str:
    """Return a session's device on these machines: `auto` is any GPU, else a processor.

    Raises:
        WrongUsage: none of them has it.
    """
    there = [place.device for host in hosts if not host.problem for place in host.places]
    gpus = sorted({name for name in there if name != CPU})
    if wanted in ("auto", "cuda") and gpus:
        return "cuda"
    if wanted == "auto" and CPU in there:
        return CPU
    if wanted in there:
        return wanted
    listed = ", ".join([*(["cuda"] if gpus else []), *gpus, *([CPU] if CPU in there else [])])
    raise WrongUsage(f"no machine there has a device {wanted!r}; --device may be: {listed}.")


def _here(settings: Settings) -> endpoints.Here:
    python, sandbox = settings.text("python"), settings.text("sandbox")
    return endpoints.Here(sandbox, python, settings.text("device"))


def _ask(evaluators: Mapping[str, McpEvaluator]) -> list[list[Host] | EvaluatorError]:
    """Ask all at once; each answers for itself."""

    async def one(name: str, evaluator: McpEvaluator) -> list[Host] | EvaluatorError:
        try:
            return [_read(name, facts) for facts in await evaluator.hosts()]
        except EvaluatorError as error:
            return error
        finally:
            await evaluator.close()

    async def every() -> list[list[Host] | EvaluatorError]:
        return await asyncio.gather(*(one(*pair) for pair in evaluators.items()))

    return asyncio.run(every())


def _read(evaluator: str, facts: Mapping[str, Any]) -> Host:
    def text(name: str) -> str:
        return inert_line(str(facts.get(name) or ""))

    return Host(
        evaluator,
        text("host"),
        pike=text("pike"),
        judge=text("evaluator"),
        python=text("python"),
        torch=text("torch"),
        cuda=text("cuda"),
        driver=text("driver"),
        sandbox=text("sandbox"),
        sandbox_missing=tuple(inert_line(str(w)) for w in facts.get("sandbox_missing") or ()),
        places=tuple(_place(place) for place in facts.get("places") or ()),
        problem=text("problem"),
    )


def _place(facts: Mapping[str, Any]) -> Place:
    device, model, uuid = (
        inert_line(str(facts.get(name) or "")) for name in ("device", "device_name", "device_uuid")
    )
    return Place(device, model, uuid, int(facts.get("free") or 0), int(facts.get("of") or 0))
