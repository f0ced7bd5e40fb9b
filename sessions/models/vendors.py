"""A vendor's model put together: its wire, key, prices and limiter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models.anthropic import Anthropic
from sessions.models.google import Google
from sessions.models.model_settings import PROVIDERS, ModelSettings
from sessions.models.network import NetworkModel
from sessions.models.openai_compatible import OpenAICompatible
from sessions.models.port import ModelRefused
from sessions.models.pricing import Pricing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.models.limiter import Limiters
    from sessions.models.network import Vendor
    from sessions.models.openai_compatible import Api

NO_KEY = "none"
"""Sent to a host of one's own that asks for no key."""


def network_model(
    name: str, settings: ModelSettings, env: Mapping[str, str], limiters: Limiters
) -> NetworkModel:
    """Return a vendor's model, ready to be asked.

    Raises:
        ModelRefused: its key is missing (the message names the variable), or it does not think as its table says.
    """
    key, key_env = _key(name, settings, env)
    made = NetworkModel(
        name,
        label(name, settings),
        _vendor(settings, key),
        pricing=pricing(settings),
        limiter=limiters.of(settings.base_url or settings.provider),
        key_env=key_env,
    )
    return made.thinking(settings.thinking)


def label(name: str, settings: ModelSettings) -> str:
    """Return how the model is shown: its names and who answers."""
    host = settings.base_url.split("://")[-1].split("/")[0]
    who = settings.provider if not host or settings.provider == "openrouter" else host
    own = settings.model if settings.model == name else f"{name} = {settings.model}"
    return f"{own} ({who})"


def pricing(settings: ModelSettings) -> Pricing:
    """Return the model's prices: those of the settings, else of the host that answers."""
    by_host = settings.provider in ("openai", "openrouter") and settings.base_url
    return Pricing(
        settings.model,
        provider_id="" if by_host else settings.provider,
        url=settings.base_url if by_host else "",
        price_in=settings.price_in,
        price_out=settings.price_out,
    )


def _key(name: str, settings: ModelSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the key and the variable it is in; a host of one's own may need none."""
    if settings.key_env:
        wanted: tuple[str, ...] = (settings.key_env,)
    elif settings.provider == "openai" and settings.base_url:
        return NO_KEY, f"no variable; set key_env in [models.{name}] if the host wants a key"
    else:
        wanted = PROVIDERS[settings.provider].keys
    for variable in wanted:
        if key := env.get(variable, "").strip():
            return key, variable
    variables = " or ".join(wanted)
    raise ModelRefused(f"model {name} needs a key: set {variables} in the environment", "bad_key")


def _vendor(settings: ModelSettings, key: str) -> Vendor:
    url = settings.base_url or PROVIDERS[settings.provider].base_url or None
    match settings.provider:
        case "anthropic":
            return Anthropic(settings.model, key, url)
        case "google":
            return Google(settings.model, key, url)
        case _:
            routed = url is not None and "//openrouter.ai" in url
            return OpenAICompatible(settings.model, key, _api(settings), url, openrouter=routed)


def _api(settings: ModelSettings) -> Api:
    """Return which of OpenAI's two APIs to speak: the newer one only where OpenAI answers."""
    if settings.api:
        return "responses" if settings.api == "responses" else "chat"
    own = not settings.base_url or "api.openai.com" in settings.base_url
    return "responses" if own and settings.provider == "openai" else "chat"
