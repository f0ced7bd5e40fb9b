"""Tokens to money: what a model's tokens cost, from the settings or from offline list prices.

An unknown price is None, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.models.port import Usage

if TYPE_CHECKING:
    from strategies.protocol import Prompt

_BYTES_PER_TOKEN = 2
"""Code and English take 3 to 4 bytes a token: an upper estimate."""
_OVERHEAD_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Pricing:
    """How one configured model is priced."""

    model: str
    """As the provider names it."""
    provider_id: str = ""
    """In the price list: `anthropic`, `openai`, `google`, `openrouter`; empty: found by `url`."""
    url: str = ""
    """Of the provider's API, for hosts the list knows by address."""
    price_in: float | None = None
    """Dollars for a million input tokens, cached or not; with `price_out`, instead of the list."""
    price_out: float | None = None

    def cost_usd(self, usage: Usage | None) -> float | None:
        """Return what an answer cost; None where usage or price is unknown."""
        if usage is None:
            return None
        if self.price_in is not None and self.price_out is not None:
            return (usage.input_tokens * self.price_in + usage.output_tokens * self.price_out) / 1e6
        return self._listed_usd(usage)

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return an upper estimate of one query: a whole answer at full length."""
        size = len(prompt.text.encode("utf-8", "replace"))
        tokens = size // _BYTES_PER_TOKEN + _OVERHEAD_TOKENS
        # What is written to a cache may cost more than what is only read.
        costs = [self.cost_usd(Usage(tokens, 0, kept, max_tokens)) for kept in (0, tokens)]
        known = [cost for cost in costs if cost is not None]
        return max(known, default=None)

    def named(self, served: str) -> Pricing:
        """Return the same prices for the model's name as the answer gave it."""
        return replace(self, model=served) if served else self

    def _listed_usd(self, usage: Usage) -> float | None:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price

        tokens = Tokens(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            if self.provider_id:
                found = calc_price(tokens, self.model, provider_id=self.provider_id)
            elif self.url:
                found = calc_price(tokens, self.model, provider_api_url=self.url)
            else:
                return None
        except (LookupError, ValueError):
            return None
        return float(found.total_price)
