"""Several hosts as one executor: real evaluations on this machine, on hosts that can be lost."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server.contract import Status, Verdict
from mcp_server.errors import ExecutorUnavailable, HostLost, NoSuchDevice
from mcp_server.executor import HostFacts, Outcome, Place, Told, Work
from mcp_server.local import open_local
from mcp_server.members import Members, Patience
from mcp_server.spread import Spread
from tests.mcp_server.conftest import TASK, candidate, ignore
from tests.mcp_server.conftest import Told as Heard

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp_server.executor import Executor, Report
    from mcp_server.setting import Setting
    from mcp_server.tasks import Task

SOON = Patience(rest=0.05, longest_rest=0.1, no_host=0.3, work=60)
GONE = "its power was cut"


def place(device: str = "cpu", model: str = "Some CPU", of: int = 1, ahead: int = 0) -> Place:
    return Place("host", device, f"uuid-{device}", model, of, of, ahead)


@dataclass
class Losable:
    """A real executor behind a line that can be cut: what runs there is lost with it."""

    inner: Executor
    cut: anyio.Event = field(default_factory=anyio.Event)
    began: anyio.Event = field(default_factory=anyio.Event)
    ran: list[Work] = field(default_factory=list[Work])

    async def run(self, work: Work, report: Report) -> Outcome:
        self.ran.append(work)
        self.began.set()
        found: list[Outcome] = []
        async with anyio.create_task_group() as group:

            async def act() -> None:
                found.append(await self.inner.run(work, report))
                group.cancel_scope.cancel()

            async def watch() -> None:
                await self.cut.wait()
                group.cancel_scope.cancel()

            group.start_soon(act)
            group.start_soon(watch)
        if not found:
            raise HostLost(GONE)
        return found[0]

    async def places(self) -> list[Place]:
        return list(await self.inner.places())

    async def hosts(self) -> list[HostFacts]:
        return list(await self.inner.hosts())

    async def check_device(self, device: str) -> object:
        return await self.inner.check_device(device)

    async def told(self, task: Task) -> Told:
        return await self.inner.told(task)

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class Answering:
    """A host that gives the answers it was given, when it is let; it evaluates nothing."""

    answers: list[Outcome | Exception] = field(default_factory=list[Outcome | Exception])
    works: list[Work] = field(default_factory=list[Work])
    gate: anyio.Event = field(default_factory=anyio.Event)
    running: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.gate.set()

    async def run(self, work: Work, report: Report) -> Outcome:
        report("build", "")
        self.works.append(work)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
        finally:
            self.running -= 1
        answer = self.answers.pop(0) if self.answers else OK
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def places(self) -> list[Place]:
        return []

    async def hosts(self) -> list[HostFacts]:
        return []

    async def check_device(self, device: str) -> object:
        return device

    async def told(self, task: Task) -> Told:
        return Told(("cpu",))

    async def close(self) -> None:
        self.gate.set()


OK = Outcome(Verdict(status=Status.OK))
LOST = Outcome(Verdict(status=Status.INFRA_ERROR, code="worker_lost", cause="The judge ended."))
WRONG = Outcome(Verdict(status=Status.WRONG_RESULT, code="values"))


def work(body: str = "said = 7", device: str = "auto", model: str = "") -> Work:
    return Work("job_0123456789", TASK, candidate(body), device=device, device_name=model)


def spread(patience: Patience = SOON, **hosts: Executor) -> Spread:
    """Return a spread over hosts, of one place each."""
    made = Spread(Members(patience))
    for name, host in hosts.items():
        made.join(name, host, (place(),))
    return made


@asynccontextmanager
async def two_machines(setting: Setting) -> AsyncGenerator[tuple[Losable, Losable]]:
    second = replace(setting, home=setting.home / "second")
    async with open_local(setting) as one, open_local(second) as other:
        yield Losable(one), Losable(other)


async def test_work_that_died_with_a_host_is_evaluated_on_another(setting: Setting) -> None:
    heard, outcomes = Heard([]), list[Outcome]()
    async with two_machines(setting) as (one, other), anyio.create_task_group() as group:
        both = spread(one=one, other=other)

        async def ask() -> None:
            outcomes.append(await both.run(work("import time; time.sleep(0.2); said = 7"), heard))

        group.start_soon(ask)
        await one.began.wait()
        one.cut.set()
    assert outcomes[0].verdict.status is Status.OK
    assert (len(one.ran), len(other.ran)) == (1, 1)
    assert heard.stages.count("intake") >= 2


async def test_work_is_spread_over_hosts_with_room(setting: Setting) -> None:
    async with two_machines(setting) as (one, other), anyio.create_task_group() as group:
        both = spread(one=one, other=other)
        for _ in range(2):
            group.start_soon(both.run, work(), ignore)
    assert (len(one.ran), len(other.ran)) == (1, 1)


async def test_work_lost_on_each_host_is_nobodys_fault_and_ends() -> None:
    hosts = [Answering([HostLost(GONE)] * 9) for _ in range(4)]
    outcome = await spread(a=hosts[0], b=hosts[1], c=hosts[2], d=hosts[3]).run(work(), ignore)
    assert (outcome.verdict.status, outcome.verdict.code) == (Status.INFRA_ERROR, "worker_lost")
    assert "3 hosts" in (outcome.verdict.cause or "")
    assert sorted(len(h.works) for h in hosts) == [0, 1, 1, 1]


async def test_a_candidates_own_failure_is_never_tried_elsewhere() -> None:
    one, other = Answering([WRONG]), Answering()
    assert await spread(one=one, other=other).run(work(), ignore) is WRONG
    assert not other.works


async def test_a_judge_lost_on_one_host_is_tried_on_another() -> None:
    one, other = Answering([LOST]), Answering()
    assert await spread(one=one, other=other).run(work(), ignore) is OK
    alone = Answering([LOST])
    assert await spread(alone=alone).run(work(), ignore) is LOST


async def test_a_host_that_failed_rests_and_comes_back() -> None:
    now = 0.0
    only = Answering([HostLost(GONE)])
    members = Members(Patience(rest=100, no_host=0.05), lambda: now)
    alone = Spread(members)
    alone.join("only", only, (place(),))
    async with anyio.create_task_group() as group:
        group.start_soon(alone.run, work(), ignore)
        await anyio.wait_all_tasks_blocked()
        assert await alone.places() == []
        alone.leave("only")
        alone.join("only", only, (place(),))  # its actor was made again: it rests all the same
        assert await alone.places() == []
        now = 100.0
    assert [p.free for p in await alone.places()] == [1]


async def test_each_failure_in_a_row_makes_the_rest_longer_and_a_success_ends_that() -> None:
    members = Members(Patience(rest=5, longest_rest=30), lambda: 0.0)
    members.join("h", Answering(), (place(),))
    member = members.all()[0]
    rests: list[float] = []
    for _ in range(5):
        members.failed(member, at_once=True)
        rests.append(member.rests_until)
    assert rests == [5, 10, 20, 30, 30]


async def test_faults_told_in_verdicts_let_a_host_rest_from_the_third() -> None:
    members = Members(Patience(rest=5), lambda: 0.0)
    members.join("h", Answering(), (place(),))
    member = members.all()[0]
    rests: list[bool] = []
    for _ in range(3):
        members.failed(member, at_once=False)
        rests.append(members.rests(member))
    assert rests == [False, False, True]


async def test_a_slow_host_is_left_and_its_work_killed() -> None:
    slow, quick = Answering(), Answering()
    slow.gate = anyio.Event()
    outcome = await spread(replace(SOON, work=0.05), slow=slow, quick=quick).run(work(), ignore)
    assert outcome is OK
    assert (slow.running, len(quick.works)) == (0, 1)


async def test_without_any_host_it_ends_politely() -> None:
    nobody = spread()
    outcome = await nobody.run(work(), ignore)
    assert (outcome.verdict.status, outcome.verdict.code) == (Status.INFRA_ERROR, "no_host")
    assert "No host" in (outcome.verdict.cause or "")
    with pytest.raises(ExecutorUnavailable, match="No host"):
        await nobody.check_device("auto")
    assert await nobody.told(TASK) == Told()


async def test_a_task_s_page_tells_the_models_of_all_hosts_once_each() -> None:
    both = Spread()
    for name, model in (("a", "NVIDIA H100"), ("b", "NVIDIA H200"), ("c", "NVIDIA H200")):
        gpu = Place(name, "cuda:0", f"GPU-{name}", model, 1, 1)
        both.join(name, Answering(), (gpu, Place(name, "cpu", "cpu", "a CPU", 1, 1)))
    told = await both.told(TASK)
    assert told.devices == ("cuda:0", "cpu", "cuda:0")
    assert told.device_titles == ("NVIDIA H100", "a CPU", "NVIDIA H200")


async def test_work_waits_for_a_host_that_comes_later() -> None:
    late, made = Answering(), spread(replace(SOON, no_host=60))
    async with anyio.create_task_group() as group:
        group.start_soon(made.run, work(), ignore)
        await anyio.wait_all_tasks_blocked()
        made.join("late", late, (place(),))
    assert len(late.works) == 1


async def test_only_the_wanted_model_is_used() -> None:
    hopper, ampere = Answering(), Answering()
    made = Spread(Members(SOON))
    made.join("a", ampere, (place("cuda:0", "NVIDIA A100-SXM4-80GB"), place()))
    made.join("h", hopper, (place("cuda:0", "NVIDIA H200"), place()))
    for _ in range(3):
        await made.run(work(model="NVIDIA H200"), ignore)
    assert (len(hopper.works), len(ampere.works)) == (3, 0)
    with pytest.raises(NoSuchDevice, match=r"B200.*A100"):
        await made.run(work(model="NVIDIA B200"), ignore)


async def test_auto_is_a_gpu_where_any_host_has_one_and_each_gpu_gets_its_share() -> None:
    plain, gpus = Answering(), Answering()
    gpus.gate = anyio.Event()
    made = Spread(Members(SOON))
    made.join("plain", plain, (place(),))
    made.join("gpus", gpus, (place("cuda:0", "H200"), place("cuda:1", "H200"), place()))
    async with anyio.create_task_group() as group:
        for device in ("auto", "cuda"):
            group.start_soon(made.run, work(device=device), ignore)
        await anyio.wait_all_tasks_blocked()
        assert sorted(w.device for w in gpus.works) == ["cuda:0", "cuda:1"]
        gpus.gate.set()
    await made.check_device("cuda:1")
    with pytest.raises(NoSuchDevice, match="cuda:7"):
        await made.check_device("cuda:7")


async def test_a_host_takes_what_it_has_room_for_and_the_line_is_served_in_order() -> None:
    host = Answering()
    host.gate = anyio.Event()
    made = Spread(Members(SOON))
    made.join("host", host, (place(of=1, ahead=1),))
    works = [replace(work(), id=f"job_{n}") for n in range(6)]
    async with anyio.create_task_group() as group:
        for each in works:
            group.start_soon(made.run, each, ignore)
            await anyio.wait_all_tasks_blocked()
        assert host.running == 2
        assert [p.free for p in await made.places()] == [0]
        host.gate.set()
    assert host.most == 2
    assert [w.id for w in host.works] == [w.id for w in works]


async def test_cancelled_work_leaves_the_line_and_its_place() -> None:
    host = Answering()
    host.gate = anyio.Event()
    made = spread(host=host)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(made.run, work(), ignore)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert host.running == 0
    host.gate.set()
    assert await made.run(work(), ignore) is OK
