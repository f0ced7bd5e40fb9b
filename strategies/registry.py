"""Name to strategy: presets, settings checked, each described."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from strategies import settings as reading
from strategies.best_of_n import BestOfN, BestOfNSettings
from strategies.errors import UnknownStrategy, hint
from strategies.pike_b import PikeB, PikeBSettings
from strategies.pike_o import PikeO
from strategies.pike_o_settings import PRESETS, PikeOSettings
from strategies.settings import Described, Value
from strategies.steady import Steady, SteadySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strategies.protocol import Strategy


@dataclass(frozen=True, slots=True)
class _Entry:
    says: str
    settings: type[Any]
    make: Callable[[Any, int], Strategy]
    preset: Mapping[str, Value] = field(default_factory=dict[str, Value])


_ENTRIES: Mapping[str, _Entry] = {
    "pike-b": _Entry("phases of mutations from the fastest few", PikeBSettings, PikeB),
    "pike-b-nofix": _Entry(
        "pike-b without the error fixing agent", PikeBSettings, PikeB, {"fixes": 0}
    ),
    "pike-b-noideas": _Entry(
        "pike-b without the initial brainstorming agent", PikeBSettings, PikeB, {"ideas": 0}
    ),
    **{
        name: _Entry(tells, PikeOSettings, PikeO, preset)
        for name, (tells, preset) in PRESETS.items()
    },
    "steady": _Entry("pike-b's step without waiting for phases", SteadySettings, Steady),
    "best-of-n": _Entry(
        "independent answers to one prompt: the yardstick", BestOfNSettings, BestOfN
    ),
}


def names() -> tuple[str, ...]:
    """Return every strategy and preset, as `--strategy` takes them."""
    return tuple(_ENTRIES)


def says(name: str) -> str:
    """Return one line on a strategy.

    Raises:
        UnknownStrategy: with the nearest name.
    """
    return _entry(name).says


def describe(name: str) -> tuple[Described, ...]:
    """Return the settings of a strategy or preset, with the defaults that hold under this name.

    Raises:
        UnknownStrategy: with the nearest name.
    """
    entry = _entry(name)
    return tuple(
        replace(described, default=entry.preset.get(described.name, described.default))
        for described in reading.describe(entry.settings)
    )


def create(name: str, settings: Mapping[str, Value], seed: int) -> Strategy:
    """Make a fresh search.

    `settings`: keys of `describe(name)`; values typed, or as text from a command line.

    Raises:
        UnknownStrategy: no such name; the message has the nearest.
        SettingRefused: an unknown key, or a value out of range.
    """
    entry = _entry(name)
    return entry.make(reading.read(entry.settings, name, {**entry.preset, **settings}), seed)


def _entry(name: str) -> _Entry:
    if name not in _ENTRIES:
        listed = ", ".join(_ENTRIES)
        raise UnknownStrategy(f"No strategy '{name}'{hint(name, _ENTRIES)} There are: {listed}.")
    return _ENTRIES[name]
