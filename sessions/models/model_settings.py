"""How a model is reached: the tables `[models.NAME]`, and what vendors' own names imply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sessions.models import thinking
from sessions.models.port import ModelRefused

Table = Mapping[str, object]
KEYS = ("provider", "model", "base_url", "key_env", "api", "price_in", "price_out", "thinking")


@dataclass(frozen=True, slots=True)
class Provider:
    """One vendor."""

    name: str
    keys: tuple[str, ...]
    """Variables its key may be in, first found."""
    names: str
    """Its own models' names, as a pattern."""
    base_url: str = ""
    """Where it answers, if its SDK does not know."""


PROVIDERS = {
    provider.name: provider
    for provider in (
        Provider("anthropic", ("ANTHROPIC_API_KEY",), r"claude-.+"),
        Provider("google", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), r"(gemini|gemma)-.+"),
        Provider("openai", ("OPENAI_API_KEY",), r"(gpt|chatgpt|codex)-.+|o\d(-.+)?"),
        Provider(
            "openrouter",
            ("OPENROUTER_API_KEY",),
            r"[\w.-]+/[\w.:-]+",
            "https://openrouter.ai/api/v1",
        ),
    )
}
"""`openrouter` speaks OpenAI's API; in a table it is `openai` with a `base_url`, or its own name."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One configured model; it holds the name of its key, never the key."""

    provider: str
    model: str
    """As the provider names it."""
    base_url: str = ""
    key_env: str = ""
    """Empty: the provider's own variable, or none for a host of one's own."""
    api: str = ""
    """Of `openai`: `responses` or `chat`; empty: by host."""
    price_in: float | None = None
    """Dollars for a million tokens, as `price_out`."""
    price_out: float | None = None
    thinking: str = ""
    """How long it thinks where a session does not say: a word of `thinking.WORDS`; empty: the vendor's way."""


def of_vendor_name(name: str) -> ModelSettings | None:
    """Return how to reach a model by its vendor's own name; None if no vendor names models so."""
    for provider in PROVIDERS.values():
        if re.fullmatch(provider.names, name):
            return ModelSettings(provider.name, name, provider.base_url)
    return None


def read_table(name: str, table: Table) -> ModelSettings:
    """Return one table `[models.NAME]`; the model's own name is the table's unless it says another.

    Raises:
        ModelRefused: an unknown key or provider, or a value of the wrong kind.
    """
    where = f"[models.{name}]"
    for key in table:
        if key not in KEYS:
            raise _refused(f"{where} has no key {key!r}{_hint(key, KEYS)}")
    settings = ModelSettings(
        provider=_provider(where, table),
        model=_text(where, table, "model") or name,
        base_url=_text(where, table, "base_url").rstrip("/"),
        key_env=_text(where, table, "key_env"),
        api=_text(where, table, "api"),
        price_in=_price(where, table, "price_in"),
        price_out=_price(where, table, "price_out"),
        thinking=_thinking(where, table),
    )
    _check(where, settings)
    return settings


def _check(where: str, settings: ModelSettings) -> None:
    if settings.api not in ("", "responses", "chat"):
        raise _refused(f"{where}: api is {settings.api!r}, but must be responses or chat")
    if settings.api and settings.provider not in ("openai", "openrouter"):
        raise _refused(f"{where}: api is for provider openai only; remove it")
    if (settings.price_in is None) != (settings.price_out is None):
        raise _refused(f"{where}: price_in and price_out go together; give both")
    if settings.base_url and not re.match(r"https?://[^/]", settings.base_url):
        raise _refused(f"{where}: base_url must begin with http:// or https://")


def _provider(where: str, table: Table) -> str:
    found = _text(where, table, "provider") or "openai"
    if found not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        raise _refused(f"{where}: no provider {found!r}{_hint(found, PROVIDERS)}; known: {known}")
    return found


def _text(where: str, table: Table, key: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise _refused(f"{where}: {key} must be text, not {value!r}")
    return value.strip()


def _price(where: str, table: Table, key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise _refused(f"{where}: {key} must be dollars for a million tokens, not {value!r}")
    return float(value)


def _thinking(where: str, table: Table) -> str:
    value = table.get("thinking")
    if value is None:
        return ""
    try:
        return thinking.read("" if isinstance(value, bool) else str(value))
    except ModelRefused as error:
        raise _refused(f"{where}: {error}") from None


def _hint(word: str, known: tuple[str, ...] | Mapping[str, object]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _refused(text: str) -> ModelRefused:
    return ModelRefused(text, "bad_settings")
