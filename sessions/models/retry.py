"""The one retry loop for vendors: five tries, waits from 10 s doubling, Retry-After honoured."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from sessions.models.failure import Failure, TryFailed
from sessions.models.port import ModelFailed, ModelRefused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sessions.models.port import OnNote

T = TypeVar("T")

TRIES = 5
FIRST_WAIT_S = 10.0
LONGEST_WAIT_S = 900.0
"""A vendor that asks for a longer wait is not waited for."""

_WORDS = {
    "rate_limit": "rate limit",
    "server": "server error",
    "timeout": "no answer in time",
    "network": "no connection",
}


class Retries:
    """Tries again what may pass; all tries are one query."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """`sleep` is where the waits are spent."""
        self._sleep = sleep

    async def call(self, who: str, once: Callable[[], Awaitable[T]], on_note: OnNote) -> T:
        """Return what `once` returns, at the latest from its fifth try.

        Raises:
            ModelRefused: the provider refused the key or does not know the model.
            ModelFailed: no answer after all tries.
        """

        async def one() -> T:
            return await once()

        def say(state: RetryCallState) -> None:
            on_note(f"waiting {state.upcoming_sleep:g} s ({_WORDS[_failure(state).code]})")

        loop = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(TRIES),
            wait=_wait_s,
            retry=retry_if_exception(_passes),
            before_sleep=say,
            reraise=True,
        )
        try:
            return await loop(one)
        except TryFailed as last:
            tried = int(loop.statistics.get("attempt_number", 1))
            raise _final(who, last.failure, tried) from None


def _passes(error: BaseException) -> bool:
    if not isinstance(error, TryFailed) or not error.failure.again:
        return False
    return (error.failure.retry_after_s or 0.0) <= LONGEST_WAIT_S


def _wait_s(state: RetryCallState) -> float:
    """Return what the vendor asked for, else 10, 20, 40, 80 s."""
    asked = _failure(state).retry_after_s
    return asked if asked is not None else FIRST_WAIT_S * 2 ** (state.attempt_number - 1)


def _failure(state: RetryCallState) -> Failure:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TryFailed)
    return error.failure


def _final(who: str, failure: Failure, tried: int) -> ModelRefused | ModelFailed:
    if failure.refused:
        return ModelRefused(f"{who} {_predicate(failure)}", failure.code)
    after = f" after {tried} tries" if tried > 1 else ""
    asked = failure.retry_after_s or 0.0
    wait = f"; it asks to wait {asked / 60:.0f} minutes" if asked > LONGEST_WAIT_S else ""
    return ModelFailed(f"{who}: no answer{after}: {failure.message}{wait}", failure.code)


def _predicate(failure: Failure) -> str:
    known = "does not know this model; check its name and base_url"
    return f"{known} ({failure.message})" if failure.code == "unknown_model" else failure.message
