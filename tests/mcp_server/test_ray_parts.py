"""What of `--executor ray` needs no cluster: names, addresses, which nodes evaluate, what is said of errors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_server import executors, ray_bridge, ray_cluster
from mcp_server.errors import ExecutorUnavailable, NotAnExecutor
from mcp_server.executor import Work
from mcp_server.ray_address import address_of, installed
from mcp_server.ray_cluster import Lost, chosen
from mcp_server.ray_executor import open_ray
from mcp_server.setting import Setting
from tests.mcp_server.conftest import TASK, candidate, ignore
from tests.mcp_server.ray_nodes import free_port

needs_ray = pytest.mark.skipif(not installed(), reason="Ray is not installed")


@needs_ray
def test_names_of_executors_and_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert address_of("ray") == "auto"
    assert address_of("ray://head") == "ray://head:10001"
    assert address_of("ray://10.0.0.7:6000") == "ray://10.0.0.7:6000"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.7:6379")
    assert address_of("ray") == "10.0.0.7:6379"


@pytest.mark.parametrize("name", ["", "slurm", "ray:", "ray://", "ray://a b", "ray://a:x", "ray\n"])
def test_what_is_no_executor_is_refused(name: str) -> None:
    with pytest.raises(NotAnExecutor, match="no executor"):
        executors.check(Setting(Path("home"), executor=name))


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExecutorUnavailable, match=r"pip install 'pike-workbench\[ray\]'"):
        executors.check(Setting(Path("home"), executor="ray"))
    executors.check(Setting(Path("home")))


def node(number: int, *, alive: bool = True, **resources: float) -> dict[str, object]:
    return {
        "NodeID": f"{number:040x}"[::-1],
        "NodeManagerHostname": "host",
        "Alive": alive,
        "Resources": resources,
    }


async def test_where_any_node_has_gpus_only_those_evaluate() -> None:
    nodes = [
        node(1, CPU=8.0),
        node(2, CPU=8.0, GPU=4.0),
        node(3, GPU=1.0),
        node(4, alive=False, GPU=8.0),
    ]
    assert [host.gpus for host in chosen(nodes)] == [4, 1]
    assert len({host.name for host in chosen(nodes)}) == 2
    assert [host.gpus for host in chosen(nodes[:1])] == [0]
    assert chosen([node(5)]) == []


def test_rays_errors_are_told_in_a_line() -> None:
    assert ray_cluster.one_line(Lost("It did not\nanswer.")) == "Lost: It did not answer."
    assert ray_cluster.one_line(ValueError()) == "ValueError: no reason given"
    far = ConnectionAbortedError(
        "Initialization failure from server:\nTraceback (most recent call last):\n  at home\nKeyError: 3"
    )
    told = "ConnectionAbortedError: Initialization failure from server: KeyError: 3"
    assert ray_cluster.one_line(far) == told
    died = type("ActorDiedError", (Exception,), {})("pages\n" * 50)
    assert ray_cluster.one_line(died) == "Our actor there died."


@pytest.mark.ray
@needs_ray
async def test_a_head_that_is_not_there_is_nobodys_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    setting = Setting(tmp_path, device="cpu")
    async with open_ray(setting, f"ray://127.0.0.1:{free_port()}") as executor:
        outcome = await executor.run(Work("job_0", TASK, candidate("")), ignore)
    assert (outcome.verdict.status, outcome.verdict.code) == ("infra_error", "no_host")
    assert "ray start" in (outcome.verdict.cause or "")


class _Refusing:
    """Of Ray, what it does where a cluster runs and does not let us in."""

    def init(self, address: str | None = None, **more: object) -> None:
        if address == "auto":
            raise ConnectionError("Failed to connect to Ray cluster at gpu1:6379")
        assert "object_store_memory" in more
        raise ValueError("When connecting to an existing cluster, it must not be provided.")


def test_a_cluster_that_lets_us_not_in_is_told_by_its_own_words() -> None:
    with pytest.raises(ConnectionError, match="gpu1:6379"):
        ray_bridge.connect(_Refusing(), "auto")
