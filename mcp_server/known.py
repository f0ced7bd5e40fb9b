"""What is known of this machine: for authors of candidates, and for people who look at hosts."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_server import facts, machine, probes, profile, qualify, release, ways
from mcp_server.errors import EvaluatorError
from mcp_server.executor import HostFacts, Told

if TYPE_CHECKING:
    from mcp_server.local import LocalExecutor
    from mcp_server.tasks import Task


async def told(executor: LocalExecutor, task: Task) -> Told:
    """Return what was measured of the devices and of the task, if anything was; nothing is started."""
    devices = [*machine.gpus(), machine.cpu()]
    names, titles = tuple(d.name for d in devices), tuple(d.title for d in devices)
    with suppress(EvaluatorError):  # a server without an interpreter can still show its tasks
        device, known = await executor.known("auto")
        kept = await executor.known_task(task, "auto")
        return Told(
            names,
            titles,
            builds=tuple(ways.lines(device, await executor.python())),
            machine=tuple(facts.lines(known)) if known else (),
            baselines=tuple(profile.baseline_lines(kept)) if kept else (),
            floors=tuple(profile.floor_lines(kept)) if kept else (),
        )
    return Told(names, titles)


async def host(executor: LocalExecutor) -> HostFacts:
    """Return this machine as a host, its sandbox probed; what it lacks is said in `problem`."""
    found = HostFacts(socket.gethostname(), release.version(), qualify.evaluator_sha256())
    try:
        python = await executor.python()
        found = replace(
            found,
            python=".".join(map(str, python.version)),
            torch=python.torch,
            cuda=python.cuda or "",
            driver=machine.driver() or "",
            places=tuple(await executor.places()),
        )
        device = await executor.check_device("auto")
        sandbox = await probes.choose(executor.setting.sandbox, python, device)
    except EvaluatorError as error:
        return replace(found, problem=str(error))
    return replace(found, sandbox=sandbox.level, sandbox_missing=tuple(sandbox.missing))
