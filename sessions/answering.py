"""What every rule about a person's command shares: its answer, what it must know from outside, what changed since."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sessions.journal import Command
    from sessions.model import State, SteerRecord
    from strategies.protocol import Proposal


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to."""

    why: str = ""
    """Why it is refused; empty: applied."""
    adds: dict[str, Any] | None = None
    """Arguments that the fact holds besides."""
    opens: tuple[Proposal, ...] = ()
    """Proposals it makes."""
    cancels: tuple[str, ...] = ()
    """Proposals it closes."""
    texts: tuple[str, ...] = ()
    """Kept by their keys."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What became of opening a model that a command names."""

    label: str = ""
    priced: bool = True
    trouble: str = ""
    """Why it cannot be asked."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What the rules need besides the facts."""

    seats: int = 1
    """Candidates that may be pinned at once; 0: the strategy chooses no parents."""
    unpriced: bool = False
    """A configured model has no known price, or something of unknown cost was paid."""
    models: Mapping[str, Opened] = field(default_factory=dict[str, Opened])
    """The models that the command names."""

    def trouble(self, names: str) -> str:
        """Return why one of these models (comma-separated) cannot be asked."""
        found = (self.models.get(name) for name in names.split(","))
        return next((model.trouble for model in found if model and model.trouble), "")

    def unpriced_of(self, names: str) -> str:
        """Return the first of these models whose price is unknown."""
        unknown = {name for name, model in self.models.items() if not model.priced}
        return next((name for name in names.split(",") if name in unknown), "")


def refused(why: str) -> Answer:
    """Return a refusal."""
    return Answer(why=why)


def applied(**adds: Any) -> Answer:
    """Return an answer that applies, with what the fact holds besides."""
    return Answer(adds=adds)


def shown(name: str) -> str:
    """Return a foreign name, quoted and short."""
    return repr(name[:40])


def whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)


def changed_since(
    state: State, command: Command, names: Callable[[SteerRecord], bool], *acts: str
) -> SteerRecord | None:
    """Return the newest applied steer of these acts (by default the command's) that its author had not seen."""
    found = [
        s
        for s in state.steers.values()
        if s.applied and s.act in (acts or (command.act,)) and s.seq > command.seen_seq and names(s)
    ]
    return found[-1] if found else None
