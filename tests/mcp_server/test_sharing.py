"""Many searches of many users on one server: each gets its turn, and engines see the hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, MCPError

from mcp_server.app import build
from mcp_server.callers import BASIC, ENGINE
from mcp_server.contract import HOSTS_URI, SESSION_META
from tests.mcp_server.conftest import candidate
from tests.mcp_server.test_tools import fields
from tests.mcp_server.web import served

if TYPE_CHECKING:
    from mcp_server.setting import Setting

LIMIT_S = 120
MANY = 16


async def start(client: Client, session: str, name: str) -> str:
    """Start an evaluation of one search; return its job."""
    body = f"import time\ntime.sleep(0.2)\nsaid = {name!r}"
    arguments = {"task_id": "starter/softmax", "source": candidate(body), "wait_s": 0}
    found = await client.call_tool("evaluate_kernel", arguments, meta={SESSION_META: session})
    return str(fields(found)["job_id"])


async def ended(client: Client, job: str) -> dict[str, Any]:
    with anyio.fail_after(LIMIT_S):
        while True:
            found = fields(await client.call_tool("wait_job", {"job_id": job}))
            if found["state"] == "done":
                return found


async def over(client: Client, jobs: list[str]) -> int:
    """Return how many of some jobs are over."""
    states = [
        fields(await client.call_tool("wait_job", {"job_id": job, "wait_s": 0}))["state"]
        for job in jobs
    ]
    return states.count("done")


async def test_a_search_with_one_candidate_does_not_wait_for_all_of_another_s(
    setting: Setting,
) -> None:
    async with Client(build(setting, engine=True)) as client:
        many = [await start(client, "many", f"m{n}") for n in range(MANY)]
        one = await start(client, "one", "o")
        assert (await ended(client, one))["ok"] is True
        assert await over(client, many) <= MANY // 2
        assert (await ended(client, many[-1]))["ok"] is True


async def test_a_user_with_many_searches_does_not_starve_one_with_one(setting: Setting) -> None:
    engines = {"ada": (BASIC, ENGINE), "bob": (BASIC, ENGINE)}
    async with (
        served(setting, engines) as there,
        there.client("ada") as ada,
        there.client("bob") as bob,
    ):
        many = [await start(ada, f"s{n % 4}", f"m{n}") for n in range(MANY)]
        one = await start(bob, "s0", "o")
        assert (await ended(bob, one))["ok"] is True
        assert await over(ada, many) <= MANY // 2


async def test_engines_see_the_hosts_and_others_do_not(setting: Setting) -> None:
    async with Client(build(setting, engine=True)) as client:
        read = await client.read_resource(HOSTS_URI)
    (host,) = json.loads(getattr(read.contents[0], "text", ""))
    assert host["problem"] == ""
    assert host["sandbox"] == "process"
    assert [place["device"] for place in host["places"]][-1] == "cpu"
    async with Client(build(setting)) as client:
        with pytest.raises(MCPError, match="engines only"):
            await client.read_resource(HOSTS_URI)
