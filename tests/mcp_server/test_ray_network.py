"""Two hosts of a Ray cluster, each a network namespace of its own, with a cable between them that is pulled."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import pytest

from mcp_server.contract import Status
from mcp_server.executor import Work
from mcp_server.members import Members, Patience
from mcp_server.ray_executor import open_ray
from mcp_server.setting import Setting
from mcp_server.spread import Spread
from tests.mcp_server.conftest import SMALL, TASK, Told, candidate
from tests.mcp_server.ray_nodes import Nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_server.executor import Outcome
    from mcp_server.ray_executor import RayExecutor

LIMIT_S = 150
FAR = "pike-far"
"""What the other host calls itself."""


def ip(*words: str) -> bool:
    """Configure the network; return whether it could be done."""
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


def namespaces_work() -> bool:
    """Return whether network namespaces and pairs of virtual cables can be made here."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    name = f"pike-try-{os.getpid()}"
    made = ip("netns", "add", name)
    made = ip("netns", "exec", name, "unshare", "--uts", "hostname", name) and made
    return ip("netns", "del", name) and made


pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(400),
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(not namespaces_work(), reason="no network namespaces: root and `ip`"),
]


@dataclass
class Cable:
    """A virtual cable from this network namespace to another, on a network of its own."""

    number: int = field(default_factory=lambda: os.getpid() % 250)

    @property
    def namespace(self) -> str:
        """Return the other end's namespace."""
        return f"pike-{self.number}"

    @property
    def near(self) -> str:
        """Return this end's address."""
        return f"10.213.{self.number}.1"

    @property
    def far(self) -> str:
        """Return the other end's address."""
        return f"10.213.{self.number}.2"

    def lay(self) -> None:
        """Make the namespace and both ends."""
        here, there = f"pk{self.number}a", f"pk{self.number}b"
        name = self.namespace
        assert ip("netns", "add", name)
        assert ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        for inside, end, address in (((), here, self.near), (("-n", name), there, self.far)):
            assert ip(*inside, "addr", "add", f"{address}/24", "dev", end)
            assert ip(*inside, "link", "set", end, "up")
        assert ip("-n", name, "link", "set", "lo", "up")

    def pull(self) -> None:
        """Take the link down: nothing gets through any more, and nobody is told."""
        assert ip("link", "set", f"pk{self.number}a", "down")

    def remove(self) -> None:
        """Take all of it away."""
        ip("link", "del", f"pk{self.number}a")
        ip("netns", "del", self.namespace)

    @property
    def inside(self) -> tuple[str, ...]:
        """Return what runs a program at the other end, on a host of another name."""
        named = ("unshare", "--uts", "sh", "-c", f'hostname {FAR}; exec "$@"', "sh")
        return ("ip", "netns", "exec", self.namespace, *named)


@pytest.fixture
def cable() -> Iterator[Cable]:
    laid = Cable()
    try:
        laid.lay()
        yield laid
    finally:
        laid.remove()


@pytest.fixture
def nodes(cable: Cable, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    """A head here and a node at the other end of the cable."""
    made = Nodes(host=cable.near)
    try:
        made.home.mkdir()
        (made.folder / "leases").mkdir()
        made.start().wait()
        made.start(*cable.inside, host=cable.far).wait()
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made
    finally:
        made.stop()


def slow_there(mark: str) -> str:
    """Return a candidate that sleeps on the far host, after it has left a mark, and nowhere else."""
    lines = ("import socket, time", f"far = socket.gethostname() == {FAR!r}")
    return candidate(
        "\n".join(
            (*lines, f"far and open({mark!r}, 'w').close()", "time.sleep(300 * far)", "said = 7")
        )
    )


async def evaluated_with_a_cut(
    executor: RayExecutor, nodes: Nodes, cable: Cable
) -> list[tuple[Outcome, Told]]:
    """Evaluate one candidate for each host; pull the cable once the far host is in the midst of one."""
    mark, found = nodes.home / "far-was-there", list[tuple["Outcome", Told]]()

    async def ask(number: int) -> None:
        told = Told([])
        work = Work(f"job_{number}", TASK, slow_there(str(mark)))
        found.append((await executor.run(work, told), told))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            for number in range(2):
                group.start_soon(ask, number)
            while not mark.exists():  # noqa: ASYNC110 -- another process makes it
                await anyio.sleep(0.05)
            cable.pull()
    return found


async def test_what_ran_behind_a_pulled_cable_is_evaluated_on_this_side(
    nodes: Nodes, cable: Cable
) -> None:
    setting = Setting(
        nodes.home,
        sandbox="process",
        device="cpu",
        programs=SMALL,
        lease_folder=nodes.folder / "leases",
    )
    async with open_ray(setting, "ray") as executor:
        executor.spread = Spread(Members(Patience(rest=0.2, longest_rest=1, no_host=30)))
        assert any(host.host.startswith(FAR) for host in await executor.hosts())
        found = await evaluated_with_a_cut(executor, nodes, cable)
        assert [outcome.verdict.status for outcome, _ in found] == [Status.OK, Status.OK]
        assert sorted(told.stages.count("timing") for _, told in found) == [1, 2]
        left = {place.host for place in await executor.places()}
        assert left
        assert not any(name.startswith(FAR) for name in left)
