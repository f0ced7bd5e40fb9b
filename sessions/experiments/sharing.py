"""What a session shares: the limits of each provider with all of this machine, places with those of its experiment."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import machine_places
from sessions.errors import FolderUnusable
from sessions.experiments.folder import ExperimentFolder
from sessions.experiments.places import Pool, placed_evaluator, placed_model
from sessions.models.limiter import Limiters

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.evaluator import Evaluator
    from sessions.experiments.plan import SharedPlaces
    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.machine_places import MachinePlaces
    from sessions.models.port import LanguageModel

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shares:
    """One session's."""

    machine: MachinePlaces | None
    """None: nothing can be shared here."""
    experiment: Path | None = None
    places: SharedPlaces | None = None
    """Of its experiment, if it belongs to one that is here."""

    @classmethod
    def of(cls, folder: SessionFolder, opened: Opened) -> Shares:
        """Join what the session shares."""
        machine = machine_places.joined(folder.name)
        name = opened.labels.get("experiment", "")
        experiment = folder.path.absolute().parent.parent / "experiments" / name
        if machine is None or not name or not experiment.is_dir():
            return cls(machine)
        try:
            return cls(machine, experiment, ExperimentFolder(experiment).plan.places)
        except FolderUnusable as error:
            log.warning("nothing is shared with the other sessions of the experiment: %s", error)
            return cls(machine)

    @property
    def limiters(self) -> Limiters:
        """New limiters, one per provider, whose tries all sessions of this machine count."""
        return Limiters(self.machine)

    def model(self, model: LanguageModel) -> LanguageModel:
        """Return the model, as this session may ask it."""
        count = self.places.model_calls if self.places else None
        pool = self._pool("model calls", count)
        return placed_model(model, pool) if pool else model

    def evaluator(self, evaluator: Evaluator) -> Evaluator:
        """Return the evaluator, as this session may use it: unless the plan says, all share what one would take."""
        if self.places is None:
            return evaluator
        count = self.places.evaluations or evaluator.places * max(1, len(self.places.gpus))
        pool = self._pool("evaluations", count)
        return placed_evaluator(evaluator, pool) if pool else evaluator

    def _pool(self, what: str, count: int | None) -> Pool | None:
        if self.machine is None or not count:
            return None
        return Pool(self.machine, f"{what} {self.experiment}", count)
