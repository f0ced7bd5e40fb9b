"""The agents' tools over each vendor's wire, against a real server; then through whole searches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions.agent_tools import TOOLS
from sessions.models.anthropic import Anthropic
from sessions.models.google import Google
from sessions.models.limiter import Limiter
from sessions.models.network import NetworkModel
from sessions.models.openai_compatible import OpenAICompatible
from sessions.models.port import Finish, Reply
from sessions.models.pricing import Pricing
from sessions.models.tools import Result, Round, as_text, of_text
from sessions.states import SessionState
from tests.fake_vendor import GOOD_KEY, FakeVendor, Say
from tests.fakes import source_of
from tests.sessions.models import tool_wires
from tests.sessions.models.asking import ignore, no_sleep, request
from tests.sessions.models.tool_wires import ASKS, SAID, SIGNATURE
from tests.sessions.searches import search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.models.network import Vendor

WIRES: dict[str, Callable[[str], Vendor]] = {
    "anthropic": lambda url: Anthropic("claude-sonnet-5-5", GOOD_KEY, url),
    "google": lambda url: Google("gemini-2.5-pro", GOOD_KEY, url),
    "responses": lambda url: OpenAICompatible("gpt-5", GOOD_KEY, "responses", f"{url}/v1"),
    "chat": lambda url: OpenAICompatible("gpt-5", GOOD_KEY, "chat", f"{url}/v1"),
}
CHECK = ("check_kernel", '{"source": "class ModelNew: pass"}')
TASK = ("get_task", "{}")


def model_of(wire: str, url: str) -> NetworkModel:
    return NetworkModel(
        "tested",
        "tested",
        WIRES[wire](url),
        pricing=Pricing("tested", price_in=1.0, price_out=1.0),
        limiter=Limiter("fake", now=lambda: 0.0, sleep=no_sleep),
        key_env="THE_KEY",
    )


async def said(wire: str, url: str, **more: Any) -> Reply:
    model = model_of(wire, url)
    try:
        return await model.answer(request(text="make it fast", **more), ignore, ignore)
    finally:
        await model.close()


async def asked(wire: str) -> Reply:
    """Return a reply that asks for two tools at once."""
    with FakeVendor([ASKS[wire]([CHECK, TASK])]) as vendor:
        return await said(wire, vendor.url, tools=TOOLS)


def answered(reply: Reply, words: str = "") -> Round:
    assert reply.turn is not None
    turn = of_text(as_text(reply.turn))  # as the journal keeps it
    return Round(turn, "key", (Result("ok: it is right", ok=True), Result("none", ok=False)), words)


async def followed(wire: str, words: str = "", *, last: bool = False) -> dict[str, Any]:
    """Return the request of the round after."""
    more = {"tools": TOOLS, "rounds": (answered(await asked(wire), words),), "last_round": last}
    with FakeVendor([Say("the answer")]) as vendor:
        reply = await said(wire, vendor.url, **more)
        assert (reply.text, reply.turn) == ("the answer", None)
        return vendor.asked[0].body


@pytest.mark.parametrize("wire", sorted(ASKS))
async def test_a_reply_that_asks_for_tools_is_understood(wire: str) -> None:
    reply = await asked(wire)
    assert reply.finish is Finish.STOP
    assert reply.turn is not None
    first, second = reply.turn.calls
    assert (first.name, first.arguments) == ("check_kernel", {"source": "class ModelNew: pass"})
    assert (second.name, second.arguments) == ("get_task", {})
    assert first.id != second.id
    assert reply.turn.text == reply.text == SAID
    assert SIGNATURE in as_text(reply.turn)


@pytest.mark.parametrize("wire", sorted(ASKS))
async def test_tools_are_named_with_their_schemas_and_only_where_offered(wire: str) -> None:
    with FakeVendor([Say()]) as vendor:
        await said(wire, vendor.url, tools=TOOLS)
        await said(wire, vendor.url)
    with_tools, without = (json.dumps(one.body) for one in vendor.asked)
    for tool in TOOLS:
        assert f'"{tool.name}"' in with_tools
        assert tool.description in with_tools
    assert "candidate_id" in with_tools
    assert "tool" not in without


async def test_anthropic_gets_thoughts_and_results_back_in_order() -> None:
    body = await followed("anthropic", "no atomics")
    prompt, assistant, user = body["messages"]
    assert prompt["content"] == "make it fast"
    kinds = [block["type"] for block in assistant["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    assert assistant["content"][0]["signature"] == SIGNATURE
    results, words = user["content"][:2], user["content"][2]
    assert [r["tool_use_id"] for r in results] == [c["id"] for c in assistant["content"][2:]]
    assert [r["is_error"] for r in results] == [False, True]
    assert words["text"] == "no atomics"
    assert words["cache_control"] == {"type": "ephemeral"}
    assert body["tool_choice"] == {"type": "auto"}


async def test_openai_gets_its_encrypted_reasoning_and_every_output_back() -> None:
    body = await followed("responses", "no atomics")
    kinds = [item.get("type") or item["role"] for item in body["input"]]
    calls, results = ["function_call"] * 2, ["function_call_output"] * 2
    assert kinds == ["user", "reasoning", "message", *calls, *results, "user"]
    assert body["input"][1]["encrypted_content"] == SIGNATURE
    assert [i["call_id"] for i in body["input"][5:7]] == ["call_0", "call_1"]
    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["store"] is False
    assert body["tool_choice"] == "auto"


async def test_a_host_of_chat_completions_gets_tool_messages_and_what_it_thought() -> None:
    body = await followed("chat", "no atomics")
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assistant = body["messages"][1]
    assert assistant["reasoning_details"][0]["data"] == SIGNATURE
    ids = [call["id"] for call in assistant["tool_calls"]]
    assert [message["tool_call_id"] for message in body["messages"][2:4]] == ids
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"])["source"]


async def test_google_gets_its_signature_and_responses_by_name_back() -> None:
    body = await followed("google", "no atomics")
    prompt, model, user = body["contents"]
    assert prompt["parts"] == [{"text": "make it fast"}]
    texts = [part["text"] for part in model["parts"] if "text" in part]
    assert texts == [SAID]
    assert model["parts"][1]["thoughtSignature"] == SIGNATURE
    first, second, words = user["parts"]
    assert first["functionResponse"]["response"] == {"output": "ok: it is right"}
    assert second["functionResponse"] == {"name": "get_task", "response": {"error": "none"}}
    assert words == {"text": "no atomics"}
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "AUTO"


@pytest.mark.parametrize("wire", sorted(ASKS))
async def test_in_the_last_round_the_tools_stand_there_and_may_not_be_called(wire: str) -> None:
    body = await followed(wire, last=True)
    choice = body.get("tool_choice", body.get("toolConfig"))
    none = {"type": "none"}, "none", {"functionCallingConfig": {"mode": "NONE"}}
    assert choice in none
    assert "check_kernel" in json.dumps(body["tools"])


async def test_arguments_that_are_no_json_arrive_as_none_and_go_back_as_the_host_takes_them() -> (
    None
):
    for wire in ("chat", "responses"):
        with FakeVendor([ASKS[wire]([("check_kernel", '{"source": "class')])]) as vendor:
            reply = await said(wire, vendor.url, tools=TOOLS)
        assert reply.turn is not None
        assert reply.turn.calls[0].arguments is None
        if wire == "chat":
            assert reply.turn.said["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_a_reply_cut_off_in_a_call_asks_for_nothing(tmp_path: Path) -> None:
    cut = tool_wires.anthropic([CHECK], stop="max_tokens")
    with FakeVendor([cut, Say("no file")]) as vendor:
        model = model_of("anthropic", vendor.url)
        settings = {"queries": 2, "ideas": 0, "width": 1, "places": 1, "agent_tools": True}
        found = search(tmp_path, settings=settings, models=_all(model))
        assert await found.run(models={"tested": model}) is SessionState.FINISHED
    assert not found.of("tool_answered")
    assert found.of("unusable")


def _all(model: NetworkModel) -> dict[str, str]:
    return dict.fromkeys(("ideas", "improve", "fix"), model.name)


@pytest.mark.parametrize("wire", sorted(ASKS))
async def test_a_search_goes_through_a_vendors_tools_to_its_attempt(
    tmp_path: Path, wire: str
) -> None:
    source = source_of(0, "p1", 0, ("ok",))
    call = ("benchmark_kernel", json.dumps({"source": source}))
    script = [ASKS[wire]([call, TASK]), Say(f"Done.\n\n```python\n{source}```\n")]
    with FakeVendor(script) as vendor:
        model = model_of(wire, vendor.url)
        settings = {"queries": 4, "ideas": 0, "width": 1, "places": 1, "agent_tools": True}
        found = search(tmp_path, settings=settings, models=_all(model))
        assert await found.run(models={"tested": model}) is SessionState.FINISHED
        told = json.dumps(vendor.asked[1].body)
    first = next(iter(found.state.attempts.values()))
    assert (first.kind, first.query) == ("correct", "q2")
    assert [call.ok for call in found.state.queries["q1"].calls] == [True, True]
    assert "as benchmark_kernel found" in told
    assert "fp32: 0.5 ms, set by memory" in told
    assert found.state.queries["q1"].cost_usd or wire == "chat"  # which tells no counts here
