"""Thinking and prompt caching, as they reach the vendors: the fake refuses what their SDKs' types do not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.models import thinking
from sessions.models.anthropic import Anthropic
from sessions.models.google import Google
from sessions.models.limiter import Limiter
from sessions.models.model_settings import read_table
from sessions.models.network import NetworkModel
from sessions.models.openai_compatible import OpenAICompatible
from sessions.models.port import MAX_TOKENS, ModelRefused, Usage
from sessions.models.pricing import Pricing
from sessions.models.retry import Retries
from tests.fake_vendor import GOOD_KEY, Fail, FakeVendor, Say
from tests.sessions.models.asking import approx, ignore, no_sleep, request

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.models.network import Vendor
    from sessions.models.port import Reply, Request

STABLE = "The machine, the rules and the original.\n" * 100
OWN = "api.openai.com/v1"
"""A path that makes the fake OpenAI itself."""
MAKE: dict[str, Callable[[str, str], Vendor]] = {
    "anthropic": lambda model, url: Anthropic(model, GOOD_KEY, url),
    "google": lambda model, url: Google(model, GOOD_KEY, url),
    "responses": lambda model, url: OpenAICompatible(model, GOOD_KEY, "responses", f"{url}/{OWN}"),
    "chat": lambda model, url: OpenAICompatible(model, GOOD_KEY, "chat", f"{url}/{OWN}"),
    "host": lambda model, url: OpenAICompatible(model, GOOD_KEY, "chat", f"{url}/v1"),
    "openrouter": lambda model, url: OpenAICompatible(
        model, GOOD_KEY, "chat", f"{url}/v1", openrouter=True
    ),
}


def network(wire: str, model: str, url: str) -> NetworkModel:
    return NetworkModel(
        "tested",
        model,
        MAKE[wire](model, url),
        pricing=Pricing(model, price_in=1.0, price_out=10.0),
        limiter=Limiter("fake", now=lambda: 0.0, sleep=no_sleep),
        key_env="THE_KEY",
        retries=Retries(no_sleep),
    )


async def body(wire: str, model: str, level: str) -> dict[str, Any]:
    """The request of a query that thinks so long, and was answered."""
    with FakeVendor([Say()]) as vendor:
        asked = network(wire, model, vendor.url).thinking(level)
        try:
            await asked.answer(request(), ignore, ignore)
        finally:
            await asked.close()
        (arrived,) = vendor.asked
        return arrived.body


def _gemini(config: dict[str, Any]) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": config}}


@pytest.mark.parametrize(
    ("wire", "model", "level", "sent", "most"),
    [
        ("anthropic", "claude-sonnet-5-5", "", {}, 32_000),
        ("anthropic", "claude-sonnet-5-5", "off", {"thinking": {"type": "disabled"}}, 32_000),
        (
            "anthropic",
            "claude-sonnet-5-5",
            "medium",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
            48_384,
        ),
        (
            "anthropic",
            "claude-haiku-4-5",
            "high",
            {"thinking": {"type": "enabled", "budget_tokens": 32_000}},
            64_000,
        ),
        (
            "anthropic",
            "claude-haiku-4-5",
            "50000",
            {"thinking": {"type": "enabled", "budget_tokens": 50_000}},
            64_000,
        ),
        ("responses", "gpt-5", "high", {"reasoning": {"effort": "high"}}, 64_000),
        ("responses", "gpt-5.1", "off", {"reasoning": {"effort": "none"}}, 32_000),
        ("chat", "gpt-5", "low", {"reasoning_effort": "low"}, 36_096),
        ("host", "house-model", "medium", {"reasoning_effort": "medium"}, 48_384),
        ("google", "gemini-2.5-flash", "off", _gemini({"thinking_budget": 0}), 32_000),
        ("google", "gemini-2.5-flash", "high", _gemini({"thinking_budget": 24_576}), 64_000),
        ("google", "gemini-2.5-pro", "2048", _gemini({"thinking_budget": 2_048}), 34_048),
        ("google", "gemini-3-pro-preview", "low", _gemini({"thinking_level": "LOW"}), 36_096),
    ],
)
async def test_each_vendor_is_told_in_its_own_words_and_gives_room_for_it(
    wire: str, model: str, level: str, sent: dict[str, Any], most: int
) -> None:
    arrived = await body(wire, model, level)
    assert _has(arrived, sent), arrived
    if not level:
        assert not {"thinking", "output_config", "reasoning", "reasoning_effort"} & set(arrived)
    words = ("max_tokens", "max_output_tokens", "max_completion_tokens")
    given = {**arrived, "max_tokens": arrived.get("generationConfig", {}).get("maxOutputTokens")}
    given = arrived if wire != "google" else given
    assert [given[word] for word in words if word in given] == [most]


def _has(whole: dict[str, Any], part: dict[str, Any]) -> bool:
    return all(
        _has(whole.get(key, {}), value) if key == "generationConfig" else (whole.get(key) == value)
        for key, value in part.items()
    )


def test_openrouter_has_words_of_its_own() -> None:
    assert thinking.of_openrouter("") == {}
    assert thinking.of_openrouter("off") == {"reasoning": {"effort": "none"}}
    assert thinking.of_openrouter("high") == {"reasoning": {"effort": "high"}}
    assert thinking.of_openrouter("2048") == {"reasoning": {"max_tokens": 2048}}


@pytest.mark.parametrize(
    ("wire", "model", "level", "why"),
    [
        ("anthropic", "claude-3-5-haiku-latest", "low", "no reasoning model"),
        ("anthropic", "claude-sonnet-5-5", "4096", "low, medium or high"),
        ("responses", "gpt-4.1", "high", "no reasoning model"),
        ("responses", "gpt-5", "4096", "low, medium or high"),
        ("chat", "o3", "off", "cannot be turned off"),
        ("google", "gemini-2.5-pro", "off", "cannot be turned off"),
        ("google", "gemini-2.5-flash", "30000", "at most 24,576"),
        ("google", "gemini-2.0-flash", "medium", "no reasoning model"),
        ("google", "gemini-3-pro-preview", "4096", "low, medium or high"),
    ],
)
def test_what_a_model_does_not_have_is_refused_before_it_is_asked(
    wire: str, model: str, level: str, why: str
) -> None:
    with pytest.raises(ModelRefused, match=why) as refused:
        network(wire, model, "http://127.0.0.1:9").thinking(level)
    assert refused.value.code == "bad_settings"


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-4o"])
def test_what_cannot_think_needs_no_turning_off(model: str) -> None:
    assert thinking.of_openai(model, "off", own=True) is None


async def test_a_host_that_refuses_the_thinking_is_not_asked_again_and_says_what_to_do() -> None:
    no = Fail(400, "this model does not support reasoning_effort", code="invalid_request_error")
    with FakeVendor([no]) as vendor:
        asked = network("host", "house-model", vendor.url).thinking("high")
        with pytest.raises(ModelRefused, match=r"does not take thinking high .*default") as refused:
            await asked.answer(request(), ignore, ignore)
        await asked.close()
        assert len(vendor.asked) == 1
    assert refused.value.code == "bad_settings"


def test_thinking_is_reserved_before_the_call() -> None:
    plain = network("anthropic", "claude-sonnet-5-5", "http://127.0.0.1:9")
    asked = request().prompt
    before, after = (
        model.estimate_usd(asked, MAX_TOKENS) for model in (plain, plain.thinking("high"))
    )
    assert before is not None
    assert after == approx(before + 32_000 * 10 / 1e6)


@pytest.mark.parametrize(
    ("said", "is_read"),
    [("default", ""), ("Off", "off"), (" high ", "high"), ("16,384", "16384"), ("2048", "2048")],
)
def test_a_level_is_read_in_one_way(said: str, is_read: str) -> None:
    assert thinking.read(said) == is_read


@pytest.mark.parametrize("said", ["much", "12", "1e9", "99999999999999", "-5", "high low"])
def test_a_level_that_is_none_is_refused_with_those_there_are(said: str) -> None:
    with pytest.raises(ModelRefused, match="thinking"):
        thinking.read(said)


def test_a_table_says_how_long_its_model_thinks() -> None:
    told = read_table("deep", {"provider": "anthropic", "model": "claude-x", "thinking": 4096})
    assert told.thinking == "4096"
    with pytest.raises(ModelRefused, match=r"\[models.deep\]: thinking is off, low"):
        read_table("deep", {"thinking": "deeply"})


# --- prompt caching


def kept(text: str = "the idea") -> Request:
    asked = request(text=STABLE + text)
    return replace(asked, prompt=replace(asked.prompt, stable=len(STABLE)))


async def answered(model: NetworkModel, *requests: Request) -> list[Reply]:
    try:
        return [await model.answer(one, ignore, ignore) for one in requests]
    finally:
        await model.close()


async def test_anthropic_is_told_where_the_stable_beginning_ends() -> None:
    with FakeVendor([Say()]) as vendor:
        await answered(network("anthropic", "claude-sonnet-5-5", vendor.url), kept(), request())
        with_mark, without = (one.body["messages"][0]["content"] for one in vendor.asked)
    mark = {"type": "ephemeral"}
    assert with_mark == [
        {"type": "text", "text": STABLE, "cache_control": mark},
        {"type": "text", "text": "the idea"},
    ]
    assert without == "make it fast"


@pytest.mark.parametrize("wire", ["responses", "chat"])
async def test_openai_sees_one_key_for_prompts_that_begin_alike(wire: str) -> None:
    with FakeVendor([Say()]) as vendor:
        asked = (kept(), kept("another"), request())
        await answered(network(wire, "gpt-5", vendor.url), *asked)
        first, second, third = (one.body.get("prompt_cache_key") for one in vendor.asked)
    assert first
    assert first == second
    assert third is None


async def test_hosts_that_follow_openai_are_sent_no_word_that_they_may_not_know() -> None:
    with FakeVendor([Say()]) as vendor:
        await answered(network("host", "house-model", vendor.url), kept())
        assert "prompt_cache_key" not in vendor.asked[0].body


@pytest.mark.parametrize(
    ("wire", "model", "says"),
    [
        ("anthropic", "claude-sonnet-5-5", "messages.0.content.0.cache_control: not permitted"),
        ("responses", "gpt-5", "Unknown parameter: 'prompt_cache_key'."),
        ("chat", "gpt-5", "Unknown parameter: 'prompt_cache_key'."),
    ],
)
async def test_a_fault_in_caching_fails_no_query_and_is_met_once(
    wire: str, model: str, says: str
) -> None:
    with FakeVendor([Fail(400, says), Say("first"), Say("second")]) as vendor:
        plain = network(wire, model, vendor.url)
        first, second = await answered(plain.thinking("low"), kept(), kept())
        assert (first.text, second.text) == ("first", "second")
        assert len(vendor.asked) == 3
        last = str(vendor.asked[2].body)
    assert "cache_control" not in last
    assert "prompt_cache_key" not in last


@pytest.mark.parametrize(
    ("name", "provider", "dollars"),
    [
        ("claude-sonnet-5-5", "anthropic", 100 * 2 + 800 * 0.1 + 100 * 2.5 + 50 * 10),
        ("gpt-5", "openai", 100 * 1.25 + 800 * 0.125 + 100 * 1.25 + 50 * 10),
        ("gemini-2.5-pro", "google", 200 * 1.25 + 800 * 0.125 + 50 * 10),
    ],
)
def test_what_the_cache_saves_and_costs_is_priced(name: str, provider: str, dollars: float) -> None:
    used = Usage(1000, 800, 0 if provider == "google" else 100, 50, 10)
    assert Pricing(name, provider).cost_usd(used) == approx(dollars / 1e6)


def test_a_prompt_that_is_written_to_the_cache_whole_costs_no_more_than_was_reserved() -> None:
    pricing = Pricing("claude-sonnet-5-5", "anthropic")
    asked = kept().prompt
    tokens = len(asked.text) // 2
    reserved = pricing.estimate_usd(asked, 100)
    cost = pricing.cost_usd(Usage(tokens, 0, tokens, 100))
    assert reserved is not None
    assert cost is not None
    assert reserved >= cost
