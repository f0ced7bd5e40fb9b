"""The judge's loop: one request after the other, each answered with a verdict."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import platform
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from mcp_server.channel import Channel, ChannelClosed
from mcp_server.judge import hardware, memory
from mcp_server.judge.attempt import Findings
from mcp_server.judge.evaluation import Evaluation
from mcp_server.judge.faults import Cancelled, Fault, unfit
from mcp_server.judge.held import ATTEMPTS_LIMIT, Held, Keeper
from mcp_server.judge.request import Request, read
from mcp_server.judge.server import Quit, Server
from mcp_server.judge.state import TaskState
from mcp_server.judge.task import load_task
from mcp_server.judge.timing import baseline_fields
from mcp_server.worker.program import set_tf32

if TYPE_CHECKING:
    import socket

    from mcp_server.judge.facts import Facts
    from mcp_server.judge.qualification import Qualification

log = logging.getLogger(__name__)

TASKS_HELD = 2
"""Tasks whose weights, oracle and workers are kept at once."""


def serve(connection: socket.socket) -> None:
    """Serve requests until the server is done or gone."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    set_tf32(False)
    torch.set_num_threads(_threads(device))
    server = Server(Channel(connection))
    try:
        server.send(
            "hello",
            torch=torch.__version__,
            device=device,
            python=platform.python_version(),
            **hardware.describe(device),
        )
        Judge(server).loop()
    except (Quit, ChannelClosed):
        return


def _threads(device: str) -> int:
    """Return the threads of a judge: few where the GPU computes, since several judges share the cores."""
    cores = len(os.sched_getaffinity(0))
    return max(1, cores - 1 if device == "cpu" else min(4, cores - 1))


def _failure(error: Exception, place: str) -> Fault:
    """Return what an exception of the judge's own comes to: no candidate is at fault."""
    if crowded := memory.crowded(error, place):
        return crowded
    if memory.ran_out(error):
        return unfit("too_large", _TOO_LARGE)
    code = "gpu_unhealthy" if "CUDA error" in str(error) else "worker_lost"
    return Fault(
        "infra_error", code, f"The judge failed: {type(error).__name__}: {str(error)[:200]}"
    )


_TOO_LARGE = "What has to be kept of the task's inputs and right answers does not fit in memory."


class Judge:
    """The tasks held, and the answers to requests."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tasks: dict[tuple[str, str, str], Held] = {}
        self.keepers: dict[str, Keeper] = {}

    def loop(self) -> None:
        """Answer requests for ever."""
        while True:
            self._answer(self.server.next_job())

    def _answer(self, message: dict[str, Any]) -> None:
        findings = Findings()
        spoilt = False
        try:
            request = read(message)
            findings = self._judge(request)
            findings.verdict = {**self._names(request), **findings.verdict}
        except Cancelled:
            findings.verdict |= {"status": None, "cause": "cancelled"}
        except (Quit, ChannelClosed):
            raise
        except Exception as error:  # noqa: BLE001  the boundary: a fault of ours is no candidate's
            traceback.print_exc()
            spoilt = "CUDA error" in str(error) or memory.ran_out(error)
            fault = _failure(error, str(message.get("device") or "cpu"))
            findings.verdict |= {"status": fault.status, "code": fault.code, "cause": fault.cause}
        findings.verdict["flags"] = findings.flags
        self.server.send(
            "done", id=message.get("id"), verdict=findings.verdict, evidence=findings.evidence
        )
        if spoilt:
            raise Quit

    def _judge(self, request: Request) -> Findings:
        findings = Findings()
        try:
            self.server.stage("qualify", "loading the task")
            if request.place != "cpu" and not torch.cuda.is_available():
                raise Fault("infra_error", "gpu_unhealthy", "There is no CUDA device here.")
            keeper = self.keepers.setdefault(request.place, Keeper(self.server, request.place))
            if request.wants("timing") or not request.task_path:
                known = keeper.learn(request)
                if not request.task_path:
                    return _facts(known)
            held = self._held(request, keeper)
            if not request.source:
                return self._qualify(request, keeper, held)
            findings = Evaluation(self.server, keeper, held, request).run()
        except Fault as fault:
            findings.verdict |= {
                "status": fault.status,
                "code": fault.code,
                "cause": fault.cause,
                "stage": "qualify",
                **fault.details,
            }
        if request.agent_task:
            findings.flag("agent_task")
        return findings

    def _qualify(self, request: Request, keeper: Keeper, held: Held) -> Findings:
        findings = Findings()
        found = keeper.qualification(held, request)
        findings.verdict |= {
            "status": "ok",
            "stage": "qualify",
            "policy_effective": found.budget.policy,
            "oracle": held.state.oracle.kind,
            "blind_to": found.blind_to,
            "scope": found.scope,
            **(baseline_fields(found) if found.baselines else {}),
        }
        for name in held.state.flags:
            findings.flag(name)
        findings.evidence["qualification"] = _told(found)
        return findings

    def _held(self, request: Request, keeper: Keeper) -> Held:
        path = Path(request.task_path)
        task = load_task(request.task_id, path, request.place)
        key = (task.sha256, request.place, request.tolerance)
        held = self.tasks.get(key)
        if held is not None and held.attempts < ATTEMPTS_LIMIT:
            held.attempts += 1
            return held
        if held is not None:
            keeper.release(self.tasks.pop(key))
        while len(self.tasks) >= TASKS_HELD:
            oldest = next(iter(self.tasks))
            keeper.release(self.tasks.pop(oldest))
        with self.server.lease(shared=True):
            state = TaskState(task, plain=request.tolerance == "paper")
        self.tasks[key] = Held(task, state)
        return self.tasks[key]

    @staticmethod
    def _names(request: Request) -> dict[str, Any]:
        facts = hardware.describe(request.place)
        return {
            "task": request.task_id,
            "device": request.device,
            "device_name": facts["device_name"],
            "device_uuid": facts["device_uuid"],
            "driver": facts["driver"],
            "cuda": facts["cuda"],
            "torch": torch.__version__,
            "evaluator_sha256": evaluator_sha256(),
            "candidate_sha256": request.sha256 if request.source else None,
            "precision_policy": request.precision,
            "tolerance": request.tolerance,
            "mode": request.mode,
        }


def _told(found: Qualification) -> dict[str, Any]:
    """Return what a person wants to know of a qualification."""
    return {
        "formats": found.budget.formats,
        "errors": {name: run.worst for name, run in found.budget.runs.items()},
        "scales": found.scales,
        "mutants": found.mutants,
        "cap": found.budget.cap,
    }


def _facts(known: Facts) -> Findings:
    findings = Findings()
    findings.verdict |= {"status": "ok", "stage": "qualify"}
    findings.evidence["facts"] = known.to_json()
    return findings


@functools.lru_cache(maxsize=1)
def evaluator_sha256() -> str:
    """Return a hash over the files that judge and worker are made of."""
    folder = Path(__file__).resolve().parent
    files = [*sorted(folder.glob("*.py")), folder.parent / "worker" / "program.py"]
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
