"""Thinking and cached prompts within a whole search: real engine, journal and git, a vendor on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.facts import decode, encode
from sessions.models.catalog import resolve
from sessions.states import SessionState
from sessions.summary import summarise
from tests.fake_vendor import Fail, FakeVendor, Say
from tests.fakes import SOURCE
from tests.sessions.models.asking import approx
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.models.port import LanguageModel

REPLY = f"""1. one idea

```python
# change: nothing yet
{SOURCE.replace("class Model(", "class ModelNew(")}
```
"""
ROLES = ("ideas", "improve", "fix")


def house(vendor: FakeVendor, **more: object) -> LanguageModel:
    vendor.key = "none"
    table = {
        "model": "gpt-5",
        "price_in": 1,
        "price_out": 2,
        "base_url": f"{vendor.url}/v1",
        **more,
    }
    return resolve("house", {"house": table}, {})


async def searched(
    under: Path, vendor: FakeVendor, model: LanguageModel, thinking: dict[str, str], **more: Any
) -> Search:
    models = dict.fromkeys(ROLES, "house")
    settings = {"queries": 5, "fixes": 0}
    given = search(under, models=models, settings=settings, thinking=thinking, **more)
    try:
        assert await given.run(models={"house": model}) is SessionState.FINISHED
    finally:
        await model.close()
    return given


async def test_each_agents_model_thinks_as_long_as_it_was_told(tmp_path: Path) -> None:
    with FakeVendor([Say(REPLY, fresh=100, cached=20, answer=40, thought=10)]) as vendor:
        given = await searched(tmp_path, vendor, house(vendor), {"ideas": "high", "improve": "low"})
        efforts = [one.body.get("reasoning_effort") for one in vendor.asked]
        most = [one.body["max_tokens"] for one in vendor.asked]
    assert efforts == ["high", *["low"] * 4]
    assert most == [64_000, *[36_096] * 4]
    queries = list(given.state.queries.values())
    assert [query.thinking for query in queries] == efforts
    assert {(q.input_tokens, q.cached_tokens, q.thinking_tokens) for q in queries} == {
        (120, 20, 10)
    }
    assert summarise(given.state)["models"]["ideas"].endswith(", thinking high")
    assert ", thinking" not in summarise(given.state)["models"]["fix"]


async def test_what_thinking_may_cost_is_reserved_before_it_is_asked(tmp_path: Path) -> None:
    with FakeVendor([Say(REPLY)]) as vendor:
        sent: dict[str, float] = {}
        for level in ("", "high"):
            thinking = {"improve": level} if level else {}
            given = await searched(tmp_path / f"t{level}", vendor, house(vendor), thinking)
            sent[level] = given.of("query_sent")[1].reserved_usd
    assert sent["high"] == approx(sent[""] + 32_000 * 2 / 1e6)


async def test_a_table_says_how_long_a_model_thinks_where_a_session_does_not(
    tmp_path: Path,
) -> None:
    with FakeVendor([Say(REPLY)]) as vendor:
        model = house(vendor, thinking="medium")
        await searched(tmp_path, vendor, model, {"improve": "low"})
        efforts = [one.body["reasoning_effort"] for one in vendor.asked]
    assert efforts == ["medium", *["low"] * 4]


async def test_a_journal_of_before_has_no_word_of_thinking(tmp_path: Path) -> None:
    with FakeVendor([Say(REPLY)]) as vendor:
        given = await searched(tmp_path, vendor, house(vendor), {})
    new = {"thinking", "thinking_tokens", "cache_write_tokens"}
    for fact in given.facts:
        kept = {key: value for key, value in encode(fact.body).items() if key not in new}
        read = decode(fact.body.KIND, kept)
        assert encode(read).items() >= kept.items()
        assert not getattr(read, "thinking", "")


async def test_a_host_without_caching_costs_no_query(tmp_path: Path) -> None:
    with FakeVendor([Fail(400, "Unknown parameter: 'prompt_cache_key'"), Say(REPLY)]) as vendor:
        own = house(vendor, base_url=f"{vendor.url}/api.openai.com/v1", api="chat")
        given = await searched(tmp_path, vendor, own, {})
    assert given.state.spending.queries == 5
    assert not given.of("query_failed")
