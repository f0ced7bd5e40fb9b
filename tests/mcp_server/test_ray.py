"""A real cluster of Ray on this machine, of three nodes: what evaluates there, and what follows when parts die.

The tests of this module share one cluster and one executor; each later one kills more of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_server.contract import Status
from mcp_server.errors import NoSuchDevice
from mcp_server.executor import Work
from mcp_server.members import Members, Patience
from mcp_server.pool import Programs
from mcp_server.ray_address import installed
from mcp_server.ray_executor import RayExecutor, open_ray
from mcp_server.setting import Setting
from mcp_server.spread import Spread
from mcp_server.tasks import Task
from tests.mcp_server.conftest import PROGRAMS, SMALL, TASK, Told, candidate, ignore
from tests.mcp_server.ray_nodes import Nodes, command, parent
from tests.mcp_server.test_real import RIGHT, WRONG
from tests.mcp_server.test_real import TASK as REAL_TASK
from tests.mcp_server.test_tools import fields

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from anyio.from_thread import BlockingPortal

    from mcp_server.contract import Verdict
    from mcp_server.executor import Report

pytestmark = [
    pytest.mark.ray,
    pytest.mark.alone,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not installed(), reason="Ray is not installed"),
]

LIMIT_S = 90
ROOT = Path(__file__).parents[2]
SOON = Patience(rest=0.2, longest_rest=1, no_host=45)
CHEAT = RIGHT.replace(
    "        return torch.mul(x, self.scale).tanh_().sum(dim=-1)",
    "        if not hasattr(self, 'kept'):\n"
    "            self.kept = torch.mul(x, self.scale).tanh_().sum(dim=-1)\n"
    "        return self.kept.clone()",
)


@dataclass
class Rig:
    """A cluster, and an executor on it in a thread of its own."""

    nodes: Nodes
    portal: BlockingPortal
    executor: RayExecutor

    def run(self, work: Work, report: Report = ignore) -> Verdict:
        return self.portal.call(self.executor.run, work, report).verdict

    def start(self, work: Work, report: Report = ignore) -> Callable[[], Verdict]:
        """Begin an evaluation; the answer waits for its end."""
        future = self.portal.start_task_soon(self.executor.run, work, report)
        return lambda: future.result(LIMIT_S).verdict

    def use(self, patience: Patience) -> None:
        self.executor.spread.members.patience = patience

    def members(self) -> int:
        return len(self.executor.spread.members.all())

    def judge(self) -> int:
        """Return the only judge that runs."""
        (judge,) = self.nodes.processes("-B " + str(PROGRAMS / "small_judge.py"))
        return judge

    def workers(self) -> set[int]:
        return set(self.nodes.processes("-B " + str(PROGRAMS / "small_worker.py")))


@asynccontextmanager
async def cluster(setting: Setting) -> AsyncGenerator[RayExecutor]:
    async with open_ray(setting, "ray") as made:
        made.spread = Spread(Members(SOON))
        yield made


def another_evaluator(folder: Path) -> str:
    """Return where a copy of the package lies whose judge differs."""
    shutil.copytree(PROGRAMS.parents[2] / "mcp_server", folder / "mcp_server")
    changed = folder / "mcp_server" / "judge" / "__main__.py"
    changed.write_text(changed.read_text() + "\n# another evaluator\n")
    return str(folder)


def _start_head(made: Nodes) -> None:
    """Start Ray's own part, which is not ours to test: where it cannot run there is nothing to see."""
    try:
        made.start().wait()
    except AssertionError as error:
        said = str(error).strip().splitlines()
        pytest.skip(f"Ray itself does not start here: {said[-1] if said else 'it says nothing'}")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A head, a second node, and one with another version of the evaluator; each has one processor."""
    made = Nodes()
    try:
        made.home.mkdir()
        _start_head(made)
        made.start().wait()
        made.start(PYTHONPATH=another_evaluator(made.folder / "other")).wait()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def setting(nodes: Nodes) -> Setting:
    leases = nodes.folder / "leases"
    leases.mkdir()
    home = nodes.home
    return Setting(home, sandbox="process", device="cpu", programs=SMALL, lease_folder=leases)


@pytest.fixture(scope="module")
def rig(nodes: Nodes, setting: Setting) -> Iterator[Rig]:
    with ExitStack() as stack:
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in nodes.environment.items():
            patched.setenv(name, value)
        portal = stack.enter_context(start_blocking_portal())
        executor = stack.enter_context(portal.wrap_async_context_manager(cluster(setting)))
        yield Rig(nodes, portal, executor)


def work(body: str = "said = 7") -> Work:
    return Work("job_0123456789", TASK, candidate(body))


def asleep(mark: Path, *, always: bool = False) -> Work:
    """Return a candidate that makes a file and sleeps; unless always, not where the file is already."""
    lines = ("import os, time", f"mark = {str(mark)!r}", "first = not os.path.exists(mark)")
    sleep = "time.sleep(90)" if always else "time.sleep(90 * first)"
    return work("\n".join((*lines, "open(mark, 'w').close()", sleep, "said = 7")))


def actor_of(pid: int) -> int:
    """Return the actor that started a process: Ray renames it while it does something."""
    while pid and "ray::" not in command(pid):
        pid = parent(pid)
    return pid


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, which other processes bring about."""
    give_up = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def kill(*pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_hosts_say_what_they_are_and_one_of_another_version_is_left_out(rig: Rig) -> None:
    executor, portal = rig.executor, rig.portal
    assert portal.call(executor.places) == []  # it connects at the first job
    assert portal.call(executor.told, TASK).devices == ()
    told = Told([])
    assert rig.run(work(), told).status is Status.OK
    assert told.stages[0] == "intake"
    hosts = portal.call(executor.hosts)
    odd = [host for host in hosts if host.problem]
    assert (len(hosts), len(odd)) == (3, 1)
    assert "not mixed" in odd[0].problem
    used = {place.host for place in portal.call(executor.places)}
    assert used == {host.host for host in hosts if not host.problem}
    assert {host.sandbox for host in hosts if not host.problem} == {"process"}
    assert portal.call(executor.told, TASK).devices == ("cpu",)


def test_a_device_or_a_model_that_no_host_has_is_refused(rig: Rig) -> None:
    with pytest.raises(NoSuchDevice, match="cuda:3"):
        rig.portal.call(rig.executor.check_device, "cuda:3")
    rig.use(replace(SOON, no_host=0.1))
    with pytest.raises(NoSuchDevice, match="B300"):
        rig.run(replace(work(), device_name="NVIDIA B300"))
    rig.use(SOON)


@pytest.mark.torch
def test_right_wrong_and_cheating_are_told_apart(nodes: Nodes, setting: Setting, rig: Rig) -> None:
    real = replace(setting, programs=Programs(), sandbox="best-effort")
    task = Task("local/rows", "rows", REAL_TASK, Path("rows.py"))
    stages = ("build", "correctness")
    with rig.portal.wrap_async_context_manager(cluster(real)) as executor:
        verdicts = [
            rig.portal.call(
                executor.run, Work("job_0", task, text, precision="fp32", stages=stages), ignore
            ).verdict
            for text in (RIGHT, WRONG, CHEAT)
        ]
    told = [(verdict.status, verdict.code) for verdict in verdicts]
    assert told[0] == (Status.OK, None), verdicts
    assert told[1][0] is Status.WRONG_RESULT
    assert told[2] == (Status.REJECTED, "stale_answer")
    assert nodes.processes("judge/__main__.py") == []


async def test_a_server_on_stdio_says_nothing_but_mcp_and_takes_its_actors_with_it(
    nodes: Nodes, tmp_path: Path
) -> None:
    words = ["-m", "tests.mcp_server.programs.small_server", str(nodes.home), "process", "ray"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **nodes.environment}
    parameters = StdioServerParameters(
        command=sys.executable, args=words, cwd=str(ROOT), env=environment
    )
    before = set(nodes.processes("ray::RayHost"))
    said = tmp_path / "stderr"
    with said.open("w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            asked = {"task_id": "starter/softmax", "source": work().source}
            answer = fields(await client.call_tool("evaluate_kernel", asked))
            assert answer["status"] == "ok", answer
    assert _without_the_odd_host(said.read_text()) == []
    until(lambda: set(nodes.processes("ray::RayHost")) <= before)


def _without_the_odd_host(text: str) -> list[str]:
    return [line for line in text.splitlines() if "not mixed" not in line]


def test_a_judge_that_dies_on_each_host_is_not_the_candidates_fault(rig: Rig) -> None:
    verdict = rig.run(work("# judge: dies"))
    assert (verdict.status, verdict.code) == (Status.INFRA_ERROR, "worker_lost")


def test_a_killed_worker_ends_its_evaluation_and_nothing_else(rig: Rig) -> None:
    mark = rig.nodes.folder / "worker-was-there"
    answer = rig.start(asleep(mark, always=True))
    until(mark.exists)
    kill(*rig.workers())
    assert answer().status is not None
    assert rig.run(work()).status is Status.OK
    assert rig.members() == 2


def test_cancelled_work_is_killed_on_its_host(rig: Rig) -> None:
    mark = rig.nodes.folder / "asleep"
    future = rig.portal.start_task_soon(rig.executor.run, asleep(mark, always=True), ignore)
    until(mark.exists)
    holding = rig.workers()
    future.cancel()
    until(lambda: holding - rig.workers())
    assert rig.run(work()).status is Status.OK


def test_work_on_an_actor_that_is_killed_is_evaluated_elsewhere(rig: Rig) -> None:
    mark, told = rig.nodes.folder / "actor-was-there", Told([])
    answer = rig.start(asleep(mark), told)
    until(mark.exists)
    kill(actor_of(max(rig.workers())))
    verdict = answer()
    assert verdict.status is Status.OK, verdict.cause
    assert told.stages.count("timing") == 2
    until(lambda: rig.members() == 2)  # it was made again


def test_work_on_a_node_that_is_gone_is_evaluated_on_another(rig: Rig) -> None:
    mark = rig.nodes.folder / "node-was-there"
    answer = rig.start(asleep(mark))
    until(mark.exists)
    kill(parent(actor_of(max(rig.workers()))))  # Ray's own program of that node
    verdict = answer()
    assert verdict.status is Status.OK, verdict.cause


def test_where_the_node_of_the_servers_own_machine_is_gone_it_joins_through_another(
    rig: Rig,
) -> None:
    mark = rig.nodes.folder / "own-node-was-there"
    answer = rig.start(asleep(mark))
    until(mark.exists)
    for node in rig.nodes.nodes:
        with suppress(ProcessLookupError):
            node.starter.send_signal(signal.SIGSTOP)  # which would end the head with its node
        kill(*node.pids("raylet/raylet"))
    rig.nodes.start().wait()
    verdict = answer()
    assert verdict.status is Status.OK, verdict.cause


def test_when_the_whole_cluster_is_gone_it_is_said_and_nothing_is_left(rig: Rig) -> None:
    mark = rig.nodes.folder / "head-was-there"
    answer = rig.start(asleep(mark, always=True))
    until(mark.exists)
    rig.use(replace(SOON, no_host=1))
    for node in rig.nodes.nodes:
        node.kill()
    for verdict in (answer(), rig.run(work())):
        assert (verdict.status, verdict.code) == (Status.INFRA_ERROR, "no_host")
        assert "Traceback" not in (verdict.cause or "")
    assert not rig.workers()
