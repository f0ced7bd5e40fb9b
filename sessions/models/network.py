"""A vendor's model: one query as tries through the limiter, in the one retry loop, priced.

```
answer ─▶ Retries ─▶ Limiter ─▶ Vendor.ask  (one HTTP call, SDK's own retries off)
                                   └─ Answer ─▶ Pricing ─▶ Reply
```
"""

from __future__ import annotations

import asyncio
import copy
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from sessions.models.failure import Failure, TryFailed
from sessions.models.port import Finish, ModelRefused, Reply, Request, Usage
from sessions.models.retry import Retries
from sessions.models.thinking import room

if TYPE_CHECKING:
    from sessions.models.limiter import Limiter
    from sessions.models.port import OnNote, OnText
    from sessions.models.pricing import Pricing
    from sessions.models.tools import Turn
    from strategies.protocol import Prompt

log = logging.getLogger(__name__)

REQUEST_LIMIT_S = 900.0
_THINKING_WORDS = ("thinking", "reasoning", "effort")
_CACHE_WORDS = ("cache_control", "prompt_cache", "prompt caching")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a vendor said."""

    text: str
    finish: Finish
    usage: Usage | None
    model: str
    """As the vendor names it."""
    turn: Turn | None = None
    """The tools that it asks for."""


class Growing:
    """An answer's text as it streams; shown as it grows, not for every token."""

    def __init__(self, on_text: OnText) -> None:
        """Show the text through `on_text`."""
        self._on_text = on_text
        self._pieces: list[str] = []
        self._length = 0
        self._shown = 0

    def add(self, piece: str) -> None:
        """Add a piece; show the whole when it has grown by a fiftieth."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length - self._shown >= self._length / 50:
            self._shown = self._length
            self._on_text(self.text)

    @property
    def text(self) -> str:
        """The whole so far."""
        return "".join(self._pieces)


class Vendor(Protocol):
    """One vendor's wire."""

    key: str
    """The secret; masked in what a failure says."""

    def load(self) -> None:
        """Import the vendor's SDK, which may take a second; safe to repeat, and in a thread."""
        ...

    def check_thinking(self, level: str) -> None:
        """Look whether the model can be told to think so long, as far as its name tells.

        Raises:
            ModelRefused: it cannot.
        """
        ...

    async def ask(self, request: Request, on_text: OnText) -> Answer:
        """Make one HTTP call.

        Raises:
            TryFailed: no answer, and why.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class NetworkModel:
    """A language model behind a vendor's API."""

    network = True
    calls_tools = True

    def __init__(
        self,
        name: str,
        label: str,
        vendor: Vendor,
        *,
        pricing: Pricing,
        limiter: Limiter,
        key_env: str,
        retries: Retries | None = None,
        limit_s: float = REQUEST_LIMIT_S,
    ) -> None:
        """`key_env`: where the key was found. `limit_s`: for one try, whole."""
        self.name = name
        self.label = label
        self._vendor = vendor
        self._pricing = pricing
        self._limiter = limiter
        self._key_env = key_env
        self._retries = retries or Retries()
        self._limit_s = limit_s
        self._thinking = ""
        self._lacks: set[str] = set()
        """What the host turned out not to know; one set for all copies of this model."""

    def thinking(self, level: str) -> NetworkModel:
        """Return this model, thinking so long in every query; an empty level leaves it as it is.

        Raises:
            ModelRefused: it does not have that.
        """
        if not level:
            return self
        self._vendor.check_thinking(level)
        other = copy.copy(self)
        other._thinking = level
        return other

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return an upper estimate of one query's cost, thinking included; None if the price is unknown."""
        return self._pricing.estimate_usd(prompt, max_tokens + room(self._thinking))

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Ask, up to five times; all tries are one query.

        Raises:
            ModelRefused: bad key, no credit, unknown model, no such thinking.
            ModelFailed: no answer after all tries.
        """
        await asyncio.to_thread(self._vendor.load)
        request = replace(
            request,
            max_tokens=request.max_tokens + room(self._thinking),
            thinking=self._thinking,
        )
        try:
            got = await self._retries.call(self.label, lambda: self._try(request, on_text), on_note)
        except ModelRefused as error:
            hint = f"; it is read from {self._key_env}" if error.code == "bad_key" else ""
            raise ModelRefused(f"{error}{hint}", error.code) from None
        cost = self._pricing.cost_usd(got.usage)
        if cost is None:
            cost = self._pricing.named(got.model).cost_usd(got.usage)
        return Reply(got.text, got.finish, got.usage, cost, got.model, got.turn)

    async def close(self) -> None:
        """Release connections."""
        await self._vendor.close()

    async def _try(self, request: Request, on_text: OnText) -> Answer:
        async with self._limiter.turn():
            try:
                async with asyncio.timeout(self._limit_s):
                    return await self._ask(request, on_text)
            except TimeoutError:
                message = f"no answer within {self._limit_s:g} s"
                raise TryFailed(Failure("timeout", message)) from None
            except TryFailed as failed:
                self._limiter.hold(failed.failure.retry_after_s or 0.0)
                told = _about_thinking(failed.failure, request.thinking)
                raise TryFailed(told.without(self._vendor.key)) from None

    async def _ask(self, request: Request, on_text: OnText) -> Answer:
        """Make the call; what a host does not know of caching is left out from then on, and never fails a query."""
        if "cache" in self._lacks:
            request = replace(request, cache=False)
        try:
            return await self._vendor.ask(request, on_text)
        except TryFailed as failed:
            if not request.cache or not _says(failed.failure, _CACHE_WORDS):
                raise
            log.warning(
                "%s is asked without prompt caching: %s", self.label, failed.failure.message
            )
            self._lacks.add("cache")
            return await self._vendor.ask(replace(request, cache=False), on_text)


def _about_thinking(failure: Failure, level: str) -> Failure:
    """Return a refusal of what was asked of its thinking as one of the settings: no other query would fare better."""
    if not level or not _says(failure, _THINKING_WORDS):
        return failure
    told = f"does not take thinking {level} ({failure.message}): say another, or default"
    return Failure("bad_settings", told)


def _says(failure: Failure, words: tuple[str, ...]) -> bool:
    """Return whether the host calls the request wrong for one of these words."""
    low = failure.message.lower()
    return failure.code == "other" and any(word in low for word in words)
