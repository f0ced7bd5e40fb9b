from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sessions.models.catalog import Catalog, keys_found, resolve
from sessions.models.model_settings import KEYS, read_table
from sessions.models.port import ModelRefused
from tests.fake_vendor import GOOD_KEY, FakeVendor, Say
from tests.sessions.models.asking import approx, ignore, request

if TYPE_CHECKING:
    from pathlib import Path

ENV = {
    "ANTHROPIC_API_KEY": GOOD_KEY,
    "OPENAI_API_KEY": GOOD_KEY,
    "GEMINI_API_KEY": GOOD_KEY,
    "OPENROUTER_API_KEY": GOOD_KEY,
}


def refused(name: str, tables: dict[str, dict[str, Any]] | None = None, **env: str) -> ModelRefused:
    with pytest.raises(ModelRefused) as caught:
        resolve(name, tables or {}, env)
    return caught.value


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5 (anthropic)"),
        ("gemini-2.5-pro", "gemini-2.5-pro (google)"),
        ("gpt-5", "gpt-5 (openai)"),
        ("o4-mini", "o4-mini (openai)"),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1:free (openrouter)"),
    ],
)
def test_vendors_own_names_need_only_a_key(name: str, label: str) -> None:
    model = resolve(name, {}, ENV)
    assert (model.name, model.label, model.network) == (name, label, True)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("claude-sonnet-5-5", "ANTHROPIC_API_KEY"),
        ("gemini-2.5-pro", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("gpt-5", "OPENAI_API_KEY"),
        ("x/y", "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_names_its_variable(name: str, variable: str) -> None:
    error = refused(name)
    assert error.code == "bad_key"
    assert variable in str(error)
    assert str(refused(name, None, ANTHROPIC_API_KEY=" ")) == str(error)


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    error = refused("oflline", {"opus": {"provider": "anthropic"}})
    assert error.code == "unknown_model"
    assert "did you mean offline" in str(error)
    assert "opus" in str(error)


def test_built_in_models_need_nothing() -> None:
    for name in ("offline", "recorded"):
        model = resolve(name, {}, {})
        assert (model.name, model.network) == (name, False)


def test_replay_asks_for_the_session_it_names(tmp_path: Path) -> None:
    asked: list[str] = []

    def journal_of(session: str) -> Path:
        asked.append(session)
        return tmp_path / "journal.db"

    assert resolve("replay:softmax-3", {}, {}, journal_of).label == "replay of softmax-3"
    assert asked == ["softmax-3"]
    assert "replay:SESSION" in str(refused("replay"))


def test_a_scripted_model_is_read_from_its_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"role": "start", "text": "hello"}]', encoding="utf-8")
    assert resolve(f"scripted:{script}", {}, {}).name == f"scripted:{script}"
    assert "scripted:FILE.json" in str(refused("scripted"))
    missing = str(refused(f"scripted:{tmp_path / 'none'}"))
    assert missing.startswith("cannot use the script ")
    assert missing.endswith("none: No such file or directory")


async def test_a_table_reaches_its_own_host_with_its_own_key() -> None:
    with FakeVendor([Say("from the house")], key="house-key-123") as vendor:
        tables = {
            "house": {
                "provider": "openai",
                "model": "house-model",
                "base_url": f"{vendor.url}/v1",
                "key_env": "HOUSE_KEY",
                "price_in": 1,
                "price_out": 2.5,
            }
        }
        model = resolve("house", tables, {"HOUSE_KEY": "house-key-123"})
        said = await model.answer(request(), ignore, ignore)
        await model.close()
    assert said.text == "from the house"
    assert said.cost_usd == approx((120 * 1 + 50 * 2.5) / 1e6)
    assert vendor.asked[0].path == "/v1/chat/completions"
    assert model.label.startswith("house = house-model (127.0.0.1:")


async def test_a_host_of_ones_own_needs_no_key_and_has_no_price() -> None:
    with FakeVendor([Say("local")], key="none") as vendor:
        model = resolve("house-model", {"house-model": {"base_url": f"{vendor.url}/v1"}}, {})
        said = await model.answer(request(), ignore, ignore)
        await model.close()
    assert (said.text, said.cost_usd) == ("local", None)
    assert model.estimate_usd(request().prompt, 100) is None


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ({"provider": "anthropic", "model": "claude-sonnet-5-5"}, "/v1/messages"),
        ({"provider": "openai", "model": "gpt-5", "api": "responses"}, "/v1/responses"),
        (
            {"provider": "google", "model": "gemini-2.5-pro"},
            "/v1/models/gemini-2.5-pro:streamGenerateContent",
        ),
    ],
)
async def test_every_provider_can_be_reached_through_another_address(
    table: dict[str, Any], path: str
) -> None:
    with FakeVendor([Say("there")]) as vendor:
        url = f"{vendor.url}/v1" if table["provider"] == "openai" else vendor.url
        tables = {"mine": {**table, "base_url": url, "key_env": "OPENAI_API_KEY"}}
        model = resolve("mine", tables, ENV)
        said = await model.answer(request(), ignore, ignore)
        await model.close()
    assert said.text == "there"
    assert vendor.asked[0].path == path


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"provide": "openai"}, "did you mean 'provider'?"),
        ({"provider": "anthropc"}, "did you mean 'anthropic'?"),
        ({"api": "messages"}, "must be responses or chat"),
        ({"provider": "anthropic", "api": "chat"}, "for provider openai only"),
        ({"price_in": 3}, "go together"),
        ({"price_in": "3", "price_out": 1}, "dollars for a million tokens"),
        ({"price_in": -3, "price_out": 1}, "dollars for a million tokens"),
        ({"base_url": "localhost:8000"}, "http:// or https://"),
        ({"model": 5}, "must be text"),
    ],
)
def test_a_table_that_cannot_be_used_says_what_to_change(table: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelRefused) as caught:
        read_table("mine", table)
    assert caught.value.code == "bad_settings"
    assert says in str(caught.value)
    assert "[models.mine]" in str(caught.value)


def test_the_keys_of_a_table_are_those_of_the_settings_file() -> None:
    from workbench.config import MODEL_KEYS

    assert set(MODEL_KEYS) == set(KEYS)


def test_keys_found_lists_variables_and_never_values() -> None:
    assert keys_found({"OPENAI_API_KEY": GOOD_KEY, "GEMINI_API_KEY": ""}) == ["OPENAI_API_KEY"]
    mine = Catalog({"m": {"key_env": "HOUSE_KEY"}}, {"HOUSE_KEY": GOOD_KEY})
    assert mine.keys_found() == ["HOUSE_KEY"]
    assert "HOUSE_KEY" in mine.none_given()
    assert "offline" in Catalog({}, {}).none_given()
    assert GOOD_KEY not in repr(mine) + mine.none_given() + repr(mine.names())


def test_no_key_is_in_what_a_model_shows_of_itself() -> None:
    for name in ("claude-sonnet-5-5", "gpt-5", "gemini-2.5-pro"):
        model = resolve(name, {}, ENV)
        assert GOOD_KEY not in f"{model!r} {model.label} {vars(model)!r}"


def test_a_broken_table_of_one_model_does_not_stop_another() -> None:
    assert resolve("offline", {"broken": {"provider": "nobody"}}, {}).name == "offline"


def test_naming_models_loads_no_vendors_sdk() -> None:
    program = """
import sys
from sessions.models.catalog import resolve
env = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
for name in ("claude-x", "gpt-x", "gemini-x", "offline", "recorded"):
    resolve(name, {}, env)
heavy = {"anthropic", "openai", "google.genai", "genai_prices", "torch", "mcp", "textual"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
