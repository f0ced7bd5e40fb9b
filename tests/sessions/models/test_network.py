"""The vendors' models against a real server on loopback; the waits between tries are not slept."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from sessions.models.anthropic import Anthropic
from sessions.models.google import Google
from sessions.models.limiter import Limiter
from sessions.models.network import NetworkModel
from sessions.models.openai_compatible import OpenAICompatible
from sessions.models.port import Finish, ModelFailed, ModelRefused, Reply, Usage
from sessions.models.pricing import Pricing
from sessions.models.retry import Retries
from tests.fake_vendor import (
    GOOD_KEY,
    BreakOff,
    Die,
    Fail,
    FailInStream,
    FakeVendor,
    Hang,
    Say,
)
from tests.sessions.models.asking import approx, no_sleep, request

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.models.network import Vendor
    from tests.fake_vendor import Act

WIRES: dict[str, Callable[[str, str, str], Vendor]] = {
    "anthropic": lambda model, key, url: Anthropic(model, key, url),
    "google": lambda model, key, url: Google(model, key, url),
    "responses": lambda model, key, url: OpenAICompatible(model, key, "responses", f"{url}/v1"),
    "chat": lambda model, key, url: OpenAICompatible(model, key, "chat", f"{url}/v1"),
}
MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-2.5-pro",
    "responses": "gpt-5",
    "chat": "gpt-5",
}
LISTS = {"anthropic": "anthropic", "google": "google", "responses": "openai", "chat": "openai"}
LIMIT_S = 30.0
SHORT_S = 0.5
"""A limit for vendors that say nothing."""


@dataclass(slots=True)
class Talk:
    """One query and all that was seen of it."""

    wire: str
    pricing: Pricing | None = None
    key: str = GOOD_KEY
    model: str = ""
    limit_s: float = LIMIT_S
    waits: list[float] = field(default_factory=list[float])
    notes: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    limiter: Limiter = field(
        default_factory=lambda: Limiter("fake", now=lambda: 0.0, sleep=no_sleep)
    )

    async def ask(self, url: str) -> Reply:
        vendor = WIRES[self.wire](self.model or MODELS[self.wire], self.key, url)
        model = NetworkModel(
            "tested",
            "tested",
            vendor,
            pricing=self.pricing or Pricing(MODELS[self.wire], LISTS[self.wire]),
            limiter=self.limiter,
            key_env="THE_KEY",
            retries=Retries(self._sleep),
            limit_s=self.limit_s,
        )
        try:
            return await model.answer(
                request(text="make it fast"), self.texts.append, self.notes.append
            )
        finally:
            await model.close()

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture(params=sorted(WIRES))
def talk(request: pytest.FixtureRequest) -> Talk:
    return Talk(request.param)


async def asked(talk: Talk, *script: Act) -> Reply:
    with FakeVendor(script) as vendor:
        return await talk.ask(vendor.url)


async def test_the_text_arrives_whole_and_is_seen_growing(talk: Talk) -> None:
    text = "First the heading, then – ünïcode – the code."
    said = await asked(talk, Say(text))
    assert (said.text, said.finish, said.model) == (text, Finish.STOP, MODELS[talk.wire])
    assert talk.texts[-1] == text
    assert len(talk.texts) > 3
    assert all(text.startswith(seen) for seen in talk.texts)


async def test_the_prompt_and_the_limit_are_sent_as_the_vendor_wants_them(talk: Talk) -> None:
    with FakeVendor([Say()]) as vendor:
        await talk.ask(vendor.url)
    (arrived,) = vendor.asked
    assert "make it fast" in str(arrived.body)
    assert "32000" in str(arrived.body)
    assert "temperature" not in str(arrived.body)


async def test_counts_are_made_alike(talk: Talk) -> None:
    said = await asked(talk, Say(fresh=100, cached=20, answer=40, thought=10))
    assert said.usage == Usage(120, 20, 0, 50, 10)


async def test_anthropic_counts_what_it_writes_to_the_cache() -> None:
    said = await asked(Talk("anthropic"), Say(fresh=100, cached=20, written=30))
    assert said.usage == Usage(150, 20, 30, 50, 10)
    assert said.cost_usd == approx(1e-6 * (100 * 2 + 20 * 0.1 + 30 * 2.5 + 50 * 10))


@pytest.mark.parametrize(
    ("wire", "dollars"),
    [
        ("anthropic", 100 * 2 + 20 * 0.1 + 50 * 10),
        ("google", 100 * 1.25 + 20 * 0.125 + 50 * 10),
        ("responses", 100 * 1.25 + 20 * 0.125 + 50 * 10),
        ("chat", 100 * 1.25 + 20 * 0.125 + 50 * 10),
    ],
)
async def test_money_follows_the_list_price_and_the_cache(wire: str, dollars: float) -> None:
    said = await asked(Talk(wire), Say(fresh=100, cached=20, answer=40, thought=10))
    assert said.cost_usd == approx(dollars / 1e6)


async def test_prices_of_the_settings_win_over_the_list(talk: Talk) -> None:
    talk.pricing = Pricing("gpt-5", "openai", price_in=2.0, price_out=8.0)
    said = await asked(talk, Say())
    assert said.cost_usd == approx((120 * 2 + 50 * 8) / 1e6)


async def test_an_unknown_price_is_unknown_and_not_zero(talk: Talk) -> None:
    talk.pricing = Pricing("house-model", "openai")
    talk.model = "house-model"
    assert (await asked(talk, Say())).cost_usd is None


@pytest.mark.parametrize("wire", ["google", "responses", "chat"])
async def test_without_counts_the_cost_is_unknown(wire: str) -> None:
    said = await asked(Talk(wire), Say(usage=False))
    assert (said.usage, said.cost_usd) == (None, None)


async def test_an_answer_cut_off_at_max_tokens_says_so(talk: Talk) -> None:
    said = await asked(talk, Say("half", end="length"))
    assert (said.text, said.finish) == ("half", Finish.LENGTH)


async def test_a_refusal_says_so(talk: Talk) -> None:
    assert (await asked(talk, Say("no", end="refused"))).finish is Finish.REFUSED


async def test_rate_limits_and_server_errors_are_waited_for_in_one_query(talk: Talk) -> None:
    limited = Fail(429, headers=(("Retry-After", "7"),))
    with FakeVendor([limited, Fail(503), Fail(529), Say("at last")]) as vendor:
        said = await talk.ask(vendor.url)
    assert said.text == "at last"
    assert len(vendor.asked) == talk.limiter.tries == 4
    assert talk.waits == [7.0, 20.0, 40.0]
    assert talk.notes == [
        "waiting 7 s (rate limit)",
        "waiting 20 s (server error)",
        "waiting 40 s (server error)",
    ]


async def test_after_five_tries_it_gives_up(talk: Talk) -> None:
    with FakeVendor([Fail(500, "on fire")]) as vendor, pytest.raises(ModelFailed) as caught:
        await talk.ask(vendor.url)
    assert len(vendor.asked) == talk.limiter.tries == 5
    assert talk.waits == [10.0, 20.0, 40.0, 80.0]
    assert caught.value.code == "server"
    assert str(caught.value) == "tested: no answer after 5 tries: HTTP 500: on fire"


async def test_a_vendor_that_says_nothing_is_left_after_the_limit(talk: Talk) -> None:
    talk.limit_s = SHORT_S
    with FakeVendor([Hang(), Say("awake")]) as vendor:
        said = await talk.ask(vendor.url)
    assert said.text == "awake"
    assert talk.notes[0] == "waiting 10 s (no answer in time)"


async def test_a_vendor_that_never_answers_is_a_timeout(talk: Talk) -> None:
    talk.limit_s = SHORT_S
    with FakeVendor([Hang()]) as vendor, pytest.raises(ModelFailed) as caught:
        await talk.ask(vendor.url)
    assert caught.value.code == "timeout"
    assert talk.waits == [10.0, 20.0, 40.0, 80.0]
    assert 1 <= len(vendor.asked) <= 5  # one given up on a busy machine may not have arrived yet


@pytest.mark.parametrize("end", [Die(), BreakOff()])
async def test_an_answer_that_breaks_off_is_asked_for_again(talk: Talk, end: Act) -> None:
    with FakeVendor([end, Say("whole")]) as vendor:
        said = await talk.ask(vendor.url)
    assert (said.text, said.finish) == ("whole", Finish.STOP)
    assert talk.notes == ["waiting 10 s (no connection)"]


async def test_an_error_within_the_stream_is_tried_again(talk: Talk) -> None:
    with FakeVendor([FailInStream(), Say("whole")]) as vendor:
        assert (await talk.ask(vendor.url)).text == "whole"
    assert talk.notes == ["waiting 10 s (server error)"]


async def test_a_bad_key_is_refused_at_once_and_names_its_variable(talk: Talk) -> None:
    talk.key = "sk-wrong-9876543210"
    with FakeVendor() as vendor, pytest.raises(ModelRefused) as caught:
        await talk.ask(vendor.url)
    assert len(vendor.asked) == 1
    assert caught.value.code == "bad_key"
    assert "THE_KEY" in str(caught.value)
    assert "sk-wrong" not in str(caught.value)


async def test_an_account_without_credit_is_refused_at_once(talk: Talk) -> None:
    with (
        FakeVendor([Fail(402, "pay first")]) as vendor,
        pytest.raises(ModelRefused, match="no credit left"),
    ):
        await talk.ask(vendor.url)
    assert len(vendor.asked) == 1


async def test_an_unknown_model_is_refused_at_once(talk: Talk) -> None:
    talk.model = "no-such-model"
    with FakeVendor() as vendor, pytest.raises(ModelRefused) as caught:
        await talk.ask(vendor.url)
    assert len(vendor.asked) == 1
    assert caught.value.code == "unknown_model"
    assert "no-such-model" in str(caught.value)


async def test_a_request_the_vendor_rejects_is_not_repeated(talk: Talk) -> None:
    with (
        FakeVendor([Fail(400, "prompt is too long")]) as vendor,
        pytest.raises(ModelFailed) as caught,
    ):
        await talk.ask(vendor.url)
    assert len(vendor.asked) == 1
    assert caught.value.code == "other"
    assert "prompt is too long" in str(caught.value)


async def test_a_wait_that_is_too_long_is_not_waited_for(talk: Talk) -> None:
    slow = Fail(429, headers=(("Retry-After", "7200"),))
    with FakeVendor([slow]) as vendor, pytest.raises(ModelFailed, match="120 minutes"):
        await talk.ask(vendor.url)
    assert talk.waits == []


async def test_no_server_at_all_is_no_connection(talk: Talk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelFailed) as caught:
            await talk.ask(url)
    assert caught.value.code == "network"
    assert len(talk.waits) == 4


async def test_a_host_that_repeats_the_key_does_not_get_it_into_messages(talk: Talk) -> None:
    with (
        FakeVendor([Fail(400, f"cannot use {GOOD_KEY} here")]) as vendor,
        pytest.raises(ModelFailed) as caught,
    ):
        await talk.ask(vendor.url)
    assert GOOD_KEY not in str(caught.value)
    assert "[key]" in str(caught.value)


async def test_ten_queries_at_once_are_ten_answers(talk: Talk) -> None:
    with FakeVendor([Say("ten")]) as vendor:
        said = await asyncio.gather(*(talk.ask(vendor.url) for _ in range(10)))
    assert [reply.text for reply in said] == ["ten"] * 10
    assert talk.limiter.tries == 10


@pytest.mark.parametrize("wire", ["google", "responses", "chat"])
async def test_sampling_is_sent_only_where_it_was_set(wire: str) -> None:
    vendor_of = WIRES[wire]
    with FakeVendor([Say()]) as server:
        vendor = vendor_of(MODELS[wire], GOOD_KEY, server.url)
        asked_for = request(text="hi", sampling={"temperature": 0.25, "top_p": 0.5})
        await vendor.ask(asked_for, lambda _: None)
        await vendor.close()
    assert "0.25" in str(server.asked[0].body)
    assert "0.5" in str(server.asked[0].body)


async def test_anthropic_is_never_sent_a_temperature() -> None:
    with FakeVendor([Say()]) as server:
        vendor = Anthropic("claude-sonnet-5-5", GOOD_KEY, server.url)
        await vendor.ask(request(sampling={"temperature": 0.25}), lambda _: None)
        await vendor.close()
    assert "temperature" not in server.asked[0].body
    assert server.asked[0].body["stream"] is True
