"""The server over HTTP, in both protocol eras: who is let in, what is refused, and what each caller sees."""

from __future__ import annotations

import json
import socket
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import MCPError

from mcp_server import http
from mcp_server.access import Access, Address, address, check
from mcp_server.errors import BadAddress, CannotListen
from mcp_server.tokens import Tokens
from tests.mcp_server.conftest import candidate
from tests.mcp_server.test_tools import fields, text
from tests.mcp_server.web import BOTH_ERAS, Mode, Served, served

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx2
    from anyio.abc import SocketStream

    from mcp_server.setting import Setting

TASK = {"task_id": "starter/softmax"}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}


@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_a_client_with_a_token_compiles_a_kernel(setting: Setting, mode: Mode) -> None:
    async with served(setting) as there, there.client("one", mode) as client:
        arguments = TASK | {"source": candidate("said = 1")}
        done = fields(await client.call_tool("compile_kernel", arguments))
    assert (done["ok"], done["state"]) == (True, "done")


@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_another_client_s_ids_are_unknown(setting: Setting, mode: Mode) -> None:
    async with (
        served(setting, {"one": (), "two": ()}) as there,
        there.client("one", mode) as mine,
        there.client("two", mode) as other,
    ):
        arguments = TASK | {"source": candidate("print('x')\nsaid = 1"), "wait_s": 0}
        job = fields(await mine.call_tool("compile_kernel", arguments))["job_id"]
        done = fields(await mine.call_tool("wait_job", {"job_id": job}))
        for tool, handle in (
            ("wait_job", {"job_id": job}),
            ("cancel_job", {"job_id": job}),
            ("check_kernel", {"candidate_id": done["candidate_id"]}),
            ("benchmark_kernel", {"candidate_id": done["candidate_id"]}),
            ("profile_kernel", {"candidate_id": done["candidate_id"]}),
            ("get_artifact", {"artifact_id": done["output_id"]}),
        ):
            refused = await other.call_tool(tool, handle)
            assert refused.is_error, tool
            assert "There is no" in text(refused)


@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_a_scope_decides_which_tools_there_are(setting: Setting, mode: Mode) -> None:
    clients = {"plain": (), "tasks": ("tasks",), "engine": ("engine",)}
    async with served(setting, clients) as there:
        offered: dict[str, set[str]] = {}
        for name in clients:
            async with there.client(name, mode) as client:
                offered[name] = {tool.name for tool in (await client.list_tools()).tools}
        async with there.client("plain", mode) as client:
            refused = await client.call_tool("add_task", {"name": "x", "source": "x"})
    assert offered["tasks"] - offered["plain"] == {"add_task"}
    assert offered["engine"] - offered["plain"] == {"evaluate_kernel"}
    assert refused.is_error
    assert "no tool 'add_task'" in text(refused)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Authorization": "Basic b25lOg=="}, 401),
    ],
)
async def test_without_a_valid_token_nothing_opens(
    setting: Setting, headers: dict[str, str], said: int
) -> None:
    async with served(setting) as there, there.web() as web:
        answer = await web.post(there.url, json=HELLO, headers=JSON | headers)
        assert answer.status_code == said
        assert "one" not in answer.text


async def test_a_token_in_the_url_opens_nothing(setting: Setting) -> None:
    async with served(setting) as there, there.web() as web:
        token = there.tokens["one"]
        for place in (f"?token={token}", f"?access_token={token}", f"/{token}"):
            answer = await web.post(f"{there.url}{place}", json=HELLO, headers=JSON)
            assert answer.status_code in (401, 404)
            assert token not in answer.text


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_foreign_hosts_and_origins_are_refused(
    setting: Setting, era: str, header: dict[str, str], said: int
) -> None:
    async with served(setting) as there, there.web() as web:
        headers = JSON | there.header("one") | {"MCP-Protocol-Version": era} | header
        answer = await web.post(there.url, json=HELLO, headers=headers)
    assert answer.status_code == said


async def test_an_oversized_body_is_refused_whether_it_says_so_or_not(setting: Setting) -> None:
    body = b"x" * (http.BODY_LIMIT_BYTES + 1)

    async def in_parts() -> AsyncGenerator[bytes]:
        for start in range(0, len(body), 100_000):
            yield body[start : start + 100_000]

    async with served(setting) as there, there.web() as web:
        headers = JSON | there.header("one")
        assert (await web.post(there.url, content=body, headers=headers)).status_code == 413
        assert (await web.post(there.url, content=in_parts(), headers=headers)).status_code == 413


@pytest.mark.parametrize("in_session", [False, True])
async def test_a_body_that_trickles_in_ends_in_time(
    setting: Setting,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    in_session: bool,
) -> None:
    monkeypatch.setattr(http.Timely.__init__, "__defaults__", (0.5,))
    async with served(setting) as there:
        head = await _begun(there, in_session=in_session)
        assert (await _said_to(there.access.at, head)).startswith(b"HTTP/1.1 408")
    assert caplog.text == ""


async def test_a_body_that_breaks_off_leaves_a_session_as_it_was_and_no_trace_in_the_log(
    setting: Setting, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(setting) as there, there.web() as web:
        head = await _begun(there, in_session=True)
        async with await anyio.connect_tcp(there.access.at.host, there.access.at.port) as stream:
            await stream.send(head.encode())
        headers = JSON | there.header("one") | {"Mcp-Session-Id": _session_in(head)}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answer = await web.post(there.url, json=asked, headers=headers)
    assert "compile_kernel" in answer.text
    assert caplog.text == ""


async def _begun(there: Served, *, in_session: bool) -> str:
    """Return the beginning of a request whose body does not follow."""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {there.access.at}\r\nContent-Length: 1000\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"Authorization: Bearer {there.tokens['one']}\r\n"
    )
    if in_session:
        async with there.web() as web:
            session = (await _opened(web, there.url, there.header("one")))["mcp-session-id"]
        head += f"Mcp-Session-Id: {session}\r\n"
    return head + "\r\n{"


def _session_in(head: str) -> str:
    return head.partition("Mcp-Session-Id: ")[2].partition("\r")[0]


async def test_a_connection_that_says_nothing_is_closed(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HEADER_LIMIT_S", 0.2)
    async with served(setting) as there:
        assert await _said_to(there.access.at, "POST /mcp HTTP/1.1\r\nHost: x") == b""


@pytest.mark.parametrize(
    "first",
    [
        "GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 900\r\n\r\n",
    ],
    ids=["headers of a second request", "body of a request that was refused"],
)
async def test_what_trickles_in_after_an_answer_ends_too(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr(http, "HEADER_LIMIT_S", 0.3)
    async with served(setting) as there:
        at = there.access.at
        with anyio.fail_after(20):
            async with await anyio.connect_tcp(at.host, at.port) as stream:
                await stream.send(first.format(host=at).encode())
                assert (await stream.receive()).startswith(b"HTTP/1.1 ")
                await _trickled(stream)


async def _trickled(stream: SocketStream) -> None:
    """Send a byte at a time until the other side closes."""
    with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
        while True:
            await stream.send(b"x")
            with anyio.move_on_after(0.05):
                await stream.receive()


async def _said_to(at: Address, words: str) -> bytes:
    """Return all that the server answers to these words before it closes."""
    said = b""
    with anyio.fail_after(20):
        async with await anyio.connect_tcp(at.host, at.port) as stream:
            await stream.send(words.encode())
            try:
                while True:
                    said += await stream.receive()
            except anyio.EndOfStream:
                return said


async def test_an_http_session_of_another_token_is_unknown(setting: Setting) -> None:
    async with served(setting, {"one": (), "two": ()}) as there, there.web() as web:
        session = (await _opened(web, there.url, there.header("one")))["mcp-session-id"]
        foreign = JSON | there.header("two") | {"Mcp-Session-Id": session}
        question = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answer = await web.post(there.url, json=question, headers=foreign)
        invented = JSON | there.header("one") | {"Mcp-Session-Id": "0" * 32}
        unknown = await web.post(there.url, json=question, headers=invented)
    assert (answer.status_code, unknown.status_code) == (404, 404)
    assert answer.json()["error"] == unknown.json()["error"]


LISTED = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


async def test_past_the_most_sessions_the_next_one_is_told_so(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "SESSION_LIMIT", 3)
    names = ("one", "two", "three", "four")
    async with served(setting, dict.fromkeys(names, ())) as there, there.web() as web:
        for name in names[:3]:
            await _opened(web, there.url, there.header(name))
        answer = await web.post(there.url, json=HELLO, headers=JSON | there.header("four"))
    assert answer.status_code == 503


async def test_a_token_has_a_share_of_the_sessions_and_its_longest_idle_one_makes_way(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "SESSION_LIMIT", 12)  # three a token
    async with served(setting, {"greedy": (), "other": ()}) as there, there.web() as web:
        others = [await _session(web, there, "other")]
        mine = [await _session(web, there, "greedy") for _ in range(3)]
        assert await _listed(web, there, "greedy", mine[0]) == 200  # the second is now idle longest
        mine += [await _session(web, there, "greedy")]
        assert [await _listed(web, there, "greedy", name) for name in mine] == [200, 404, 200, 200]
        for _ in range(20):
            await _session(web, there, "greedy")
        others += [await _session(web, there, "other") for _ in range(2)]
        assert [await _listed(web, there, "other", name) for name in others] == [200] * 3


async def test_a_session_in_use_makes_way_for_none_and_one_that_is_ended_leaves_its_place(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "SESSION_LIMIT", 8)  # two a token
    async with served(setting, {"greedy": (), "other": ()}) as there, there.web() as web:
        mine = [await _session(web, there, "greedy") for _ in range(2)]
        async with _listening(web, there, mine[0]), _listening(web, there, mine[1]):
            refused = await web.post(there.url, json=HELLO, headers=JSON | there.header("greedy"))
            assert refused.status_code == 503
            assert "2 sessions in use" in refused.json()["error"]["message"]
            assert await _listed(web, there, "other", await _session(web, there, "other")) == 200
            named = there.header("greedy") | {"Mcp-Session-Id": mine[1]}
            assert (await web.delete(there.url, headers=named)).status_code == 200
            mine += [await _session(web, there, "greedy")]
        assert [await _listed(web, there, "greedy", name) for name in mine] == [200, 404, 200]


async def test_another_token_s_session_is_neither_used_nor_ended_by_a_share(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "SESSION_LIMIT", 4)  # one a token
    async with served(setting, {"one": (), "two": ()}) as there, there.web() as web:
        mine = await _session(web, there, "one")
        foreign = there.header("two") | {"Mcp-Session-Id": mine}
        assert (await web.delete(there.url, headers=foreign)).status_code == 404
        assert await _listed(web, there, "one", mine) == 200
        later = await _session(web, there, "one")
        assert await _listed(web, there, "one", mine) == 404
        assert await _listed(web, there, "one", later) == 200


async def _session(web: httpx2.AsyncClient, there: Served, name: str) -> str:
    """Open a session with a client's token and return its id."""
    return (await _opened(web, there.url, there.header(name)))["mcp-session-id"]


async def _listed(web: httpx2.AsyncClient, there: Served, name: str, session: str) -> int:
    """Return the status with which a session answers what tools there are."""
    headers = JSON | there.header(name) | {"Mcp-Session-Id": session}
    return (await web.post(there.url, json=LISTED, headers=headers)).status_code


@asynccontextmanager
async def _listening(web: httpx2.AsyncClient, there: Served, session: str) -> AsyncGenerator[None]:
    """Hold a session's stream open, as a client does that lives."""
    headers = {"Accept": "text/event-stream", "Mcp-Session-Id": session} | there.header("greedy")
    async with web.stream("GET", there.url, headers=headers) as answer:
        assert answer.status_code == 200
        yield


async def _opened(web: httpx2.AsyncClient, url: str, header: dict[str, str]) -> Any:
    answer = await web.post(url, json=HELLO, headers=JSON | header)
    assert answer.status_code == 200, answer.text
    return answer.headers


@pytest.mark.parametrize("in_session", [False, True])
async def test_a_server_that_ends_ends_the_calls_under_way_without_a_trace_in_the_log(
    setting: Setting,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    in_session: bool,
) -> None:
    monkeypatch.setattr(http, "_LEAVING_LIMIT_S", 0.1)
    arguments = TASK | {"source": candidate("import time\ntime.sleep(300)")}
    named = {"name": "compile_kernel", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": named}
    async with anyio.create_task_group() as group, served(setting) as there:
        if in_session:
            async with there.web() as web:
                session = (await _opened(web, there.url, there.header("one")))["mcp-session-id"]
            headers = JSON | there.header("one") | {"Mcp-Session-Id": session}
            body = json.dumps(call).encode()
        else:
            headers, body = JSON | there.header("one"), b"{"
        head = _head(there.access.at, headers, len(body) + (not in_session))
        stream = await anyio.connect_tcp(there.access.at.host, there.access.at.port)
        await stream.send(head + body)
        if in_session:  # its answer has begun
            assert (await stream.receive()).startswith(b"HTTP/1.1 200")
        group.start_soon(_until_closed, stream)
    assert "Traceback" not in caplog.text
    assert "ASGI" not in caplog.text


def _head(at: Address, headers: dict[str, str], length: int) -> bytes:
    lines = ["POST /mcp HTTP/1.1", f"Host: {at}", f"Content-Length: {length}"]
    return "\r\n".join([*lines, *(f"{k}: {v}" for k, v in headers.items()), "", ""]).encode()


async def _until_closed(stream: SocketStream) -> None:
    async with stream:
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            while True:
                await stream.receive()


async def test_health_is_open_and_says_only_ok(setting: Setting) -> None:
    async with served(setting) as there, there.web() as web:
        answer = await web.get(there.url.removesuffix("/mcp") + "/health")
    assert (answer.status_code, answer.text) == (200, "ok\n")


async def test_answers_are_streams_that_progress_can_travel_on(setting: Setting) -> None:
    async with served(setting) as there, there.web() as web:
        answer = await web.post(there.url, json=HELLO, headers=JSON | there.header("one"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    data = next(x for x in answer.text.splitlines() if x.startswith("data: {"))
    assert json.loads(data.removeprefix("data: "))["result"]["serverInfo"]["name"] == "kernels"


async def test_fifty_clients_at_once_are_all_answered(setting: Setting) -> None:
    answered: list[bool] = []
    async with served(setting) as there, there.web() as web, anyio.create_task_group() as group:

        async def ask() -> None:
            session = await _opened(web, there.url, there.header("one"))
            headers = JSON | there.header("one") | {"Mcp-Session-Id": session["mcp-session-id"]}
            call = {"name": "list_tasks", "arguments": {"suite": "starter"}}
            asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
            answer = await web.post(there.url, json=asked, headers=headers)
            answered.append("starter/softmax" in answer.text)

        for _ in range(50):
            group.start_soon(ask)
    assert answered == [True] * 50


@pytest.mark.parametrize("wanted", [40, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_a_client_that_opens_very_many_jobs_has_ten_and_others_take_their_turn(
    setting: Setting, wanted: int
) -> None:
    sleeps = TASK | {"source": candidate("import time\ntime.sleep(300)"), "wait_s": 0}
    async with (
        served(setting, {"greedy": (), "other": ()}) as there,
        there.client("greedy") as greedy,
        there.client("other") as other,
    ):
        replies = [await greedy.call_tool("compile_kernel", sleeps) for _ in range(wanted)]
        opened = [fields(reply)["job_id"] for reply in replies if not reply.is_error]
        refused = {text(reply) for reply in replies if reply.is_error}
        quick = TASK | {"source": candidate("said = 1"), "wait_s": 0}
        asked = fields(await other.call_tool("compile_kernel", quick))
        for job in opened[:-6]:  # the ones that run, and few that wait; six stay
            await greedy.call_tool("cancel_job", {"job_id": job})
        done = asked
        while done["state"] != "done":
            done = fields(await other.call_tool("wait_job", {"job_id": asked["job_id"]}))
        left = fields(await greedy.call_tool("wait_job", {"job_id": opened[-1], "wait_s": 0}))
    assert 10 <= len(opened) < 20  # one may end meanwhile
    assert all("8 jobs queued" in words for words in refused)
    assert done.get("ok") is True, done
    assert left["state"] in ("queued", "running")


@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_a_call_that_its_client_gives_up_frees_its_place(
    setting: Setting, mode: Mode
) -> None:
    sleeps = TASK | {"source": candidate("import time\ntime.sleep(300)")}
    async with served(setting) as there, there.client("one", mode) as client:
        begun = anyio.Event()

        async def listen(progress: float, total: float | None, message: str | None) -> None:
            del progress, total, message
            begun.set()

        async def ask() -> None:
            await client.call_tool("compile_kernel", sleeps, progress_callback=listen)

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            with anyio.fail_after(60):
                await begun.wait()
            group.cancel_scope.cancel()
        quick = TASK | {"source": candidate("said = 1")}
        done = fields(await client.call_tool("compile_kernel", quick))
    assert done["ok"] is True


@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_a_prompt_and_a_resource_serve_every_caller(setting: Setting, mode: Mode) -> None:
    async with served(setting) as there, there.client("one", mode) as client:
        prompt = await client.get_prompt("optimize", {"task_id": "starter/softmax"})
        listed = await client.read_resource("kernel://tasks")
        with pytest.raises(MCPError, match="no task"):
            await client.read_resource("kernel://tasks/starter/none")
    assert "starter/softmax" in str(prompt.messages[0].content)
    assert "starter/softmax" in str(listed.contents[0])


@pytest.mark.parametrize(
    ("typed", "host", "port"),
    [
        ("", "127.0.0.1", 8765),
        ("9000", "127.0.0.1", 9000),
        (":9000", "127.0.0.1", 9000),
        ("0.0.0.0:80", "0.0.0.0", 80),
        ("box", "box", 8765),
        ("[::1]:9000", "::1", 9000),
        ("[::1]", "::1", 8765),
    ],
)
def test_an_address_is_host_and_port_with_what_is_left_out(
    typed: str, host: str, port: int
) -> None:
    assert address(typed) == Address(host, port)


@pytest.mark.parametrize("typed", ["box:port", "box:99999", "http://box:1", "a:b:c"])
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(BadAddress, match="HOST:PORT"):
        address(typed)


def test_an_address_that_others_reach_needs_a_token_file_and_names() -> None:
    everywhere = Address("0.0.0.0", 8765)
    with pytest.raises(BadAddress, match="--token-file"):
        check(everywhere, ("box",), has_file=False)
    with pytest.raises(BadAddress, match="--allow-host"):
        check(everywhere, (), has_file=True)
    check(everywhere, ("box",), has_file=True)
    check(Address("127.0.0.1", 1), (), has_file=False)


def test_a_name_that_clients_use_is_answered_with_and_without_its_port() -> None:
    access = Access(Tokens(), Address("0.0.0.0", 8765), ("box.example", "other:443"))
    assert set(access.names) == {"0.0.0.0:8765", "box.example", "box.example:8765", "other:443"}
    assert access.url == "http://box.example:8765/mcp"


def test_an_address_that_is_taken_is_told_in_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CannotListen, match="in use"):
            http.bind(Address("127.0.0.1", taken.getsockname()[1]))


@pytest.mark.slow
@pytest.mark.parametrize("mode", BOTH_ERAS)
async def test_a_call_that_does_nothing_takes_ten_milliseconds_at_most(
    setting: Setting, mode: Mode
) -> None:
    """95 of 100, on a quiet machine, client included."""
    took: list[float] = []
    async with served(setting) as there, there.client("one", mode) as client:
        for _ in range(220):
            began = time.perf_counter()
            await client.call_tool("list_tasks", {"limit": 1})
            took.append(time.perf_counter() - began)
    assert sorted(took[20:])[190] <= 0.010, sorted(took)[::20]
