"""A model and an evaluator that take a place of the experiment for each call: what all its sessions share.

All else of the two goes through as it is, whatever their protocols will hold one day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sessions.machine_places import place_or_none
from sessions.models.thinking import bound

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from sessions.evaluator import Ask, Evaluator, OnStage
    from sessions.machine_places import MachinePlaces
    from sessions.models.port import LanguageModel, OnNote, OnText, Reply, Request


@dataclass(frozen=True, slots=True)
class Pool:
    """So many places of one name."""

    shared: MachinePlaces
    name: str
    places: int

    def place(self, on_note: OnNote | None = None) -> AbstractAsyncContextManager[None]:
        """Hold one; `on_note` is told if it must be waited for."""

        def told() -> None:
            if on_note is not None:
                on_note("waiting for a place of the experiment")

        return place_or_none(self.shared, self.name, self.places, told)


def placed_model(model: LanguageModel, pool: Pool) -> LanguageModel:
    """Return the model, every query of which takes a place."""
    return cast("LanguageModel", _PlacedModel(model, pool))  # what it lacks is the model's own


def placed_evaluator(evaluator: Evaluator, pool: Pool) -> Evaluator:
    """Return the evaluator, each job of which holds a place from its start to its verdict."""
    return cast("Evaluator", _PlacedEvaluator(evaluator, pool))  # what it lacks is the evaluator's


class _PlacedModel:
    def __init__(self, model: LanguageModel, pool: Pool) -> None:
        self._inner, self._pool = model, pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def thinking(self, level: str) -> LanguageModel:
        return placed_model(bound(self._inner, level), self._pool)

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        async with self._pool.place(on_note):
            return await self._inner.answer(request, on_text, on_note)


class _PlacedEvaluator:
    def __init__(self, evaluator: Evaluator, pool: Pool) -> None:
        self._inner, self._pool = evaluator, pool
        self._held: dict[str, AbstractAsyncContextManager[None]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def places(self) -> int:
        return min(self._inner.places, self._pool.places)

    async def start(self, ask: Ask) -> str:
        place = self._pool.place()
        await place.__aenter__()
        try:
            job = await self._inner.start(ask)
        except BaseException:
            await place.__aexit__(None, None, None)
            raise
        self._held[job] = place
        return job

    async def wait(self, job: str, on_stage: OnStage) -> dict[str, Any]:
        try:
            return await self._inner.wait(job, on_stage)
        finally:
            await self._give_back(job)

    async def cancel(self, job: str) -> None:
        await self._give_back(job)
        await self._inner.cancel(job)

    async def close(self) -> None:
        for job in list(self._held):
            await self._give_back(job)
        await self._inner.close()

    async def _give_back(self, job: str) -> None:
        place = self._held.pop(job, None)
        if place is not None:
            await place.__aexit__(None, None, None)
