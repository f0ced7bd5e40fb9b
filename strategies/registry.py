"""Name to strategy: presets, settings checked, each described."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from strategies import options
from strategies import settings as reading
from strategies.best_of_n import BestOfN, BestOfNSettings
from strategies.errors import UnknownStrategy, hint
from strategies.external import External, ExternalSettings
from strategies.options import Options
from strategies.pike_b import PikeB, PikeBSettings
from strategies.pike_o import PikeO
from strategies.pike_o_settings import PRESETS, PikeOSettings
from strategies.settings import Described, Value
from strategies.steady import Steady, SteadySettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from strategies.protocol import Strategy


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy or preset."""

    name: str
    says: str
    settings: type[Any]
    """A frozen dataclass whose fields `strategies.settings` declares."""
    make: Callable[[Any, int], Strategy]
    preset: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def describe(self) -> tuple[Described, ...]:
        """Return its settings and the options of every strategy, with the defaults that hold under its name."""
        return tuple(
            replace(described, default=self.preset.get(described.name, described.default))
            for described in (*reading.describe(self.settings), *reading.describe(Options))
        )

    def create(self, settings: Mapping[str, Value], seed: int) -> Strategy:
        """Make a fresh search.

        Raises:
            SettingRefused: an unknown key, or a value out of range.
        """
        return self.make(self._read(settings)[0], seed)

    def complete(self, settings: Mapping[str, Value]) -> dict[str, Any]:
        """Return every setting and option, those that were not given with their defaults.

        Raises:
            SettingRefused: an unknown key, or a value out of range.
        """
        own, shared = self._read(settings)
        return {**asdict(own), **asdict(shared)}

    def _read(self, settings: Mapping[str, Value]) -> tuple[Any, Options]:
        return reading.read(self.settings, Options, self.name, {**self.preset, **settings})


_LISTED = (
    Entry("pike-b", "phases of mutations from the fastest few", PikeBSettings, PikeB),
    Entry(
        "pike-b-nofix",
        "pike-b without the error fixing agent",
        PikeBSettings,
        PikeB,
        {"fixes": 0},
    ),
    Entry(
        "pike-b-noideas",
        "pike-b without the initial brainstorming agent",
        PikeBSettings,
        PikeB,
        {"ideas": 0},
    ),
    *(
        Entry(name, tells, PikeOSettings, PikeO, preset)
        for name, (tells, preset) in PRESETS.items()
    ),
    Entry(
        "steady",
        "pike-b's step without waiting for phases",
        SteadySettings,
        Steady,
        options.ALL_ON,
    ),
    Entry(
        "best-of-n", "independent answers to one prompt: the yardstick", BestOfNSettings, BestOfN
    ),
    Entry("external", "attempts that other agents hand in over MCP", ExternalSettings, External),
)
_ENTRIES: Mapping[str, Entry] = {entry.name: entry for entry in _LISTED}


def names() -> tuple[str, ...]:
    """Return every strategy and preset, as `--strategy` takes them."""
    return tuple(_ENTRIES)


def searching() -> tuple[str, ...]:
    """Return those that propose by themselves: all but the ones driven from outside."""
    return tuple(name for name in _ENTRIES if name != External.name)


def entry(name: str) -> Entry:
    """Return a strategy or preset.

    Raises:
        UnknownStrategy: with the nearest name.
    """
    if name not in _ENTRIES:
        listed = ", ".join(_ENTRIES)
        raise UnknownStrategy(f"No strategy '{name}'{hint(name, _ENTRIES)} There are: {listed}.")
    return _ENTRIES[name]


def says(name: str) -> str:
    """Return one line on a strategy.

    Raises:
        UnknownStrategy: with the nearest name.
    """
    return entry(name).says


def describe(name: str) -> tuple[Described, ...]:
    """Return the settings of a strategy or preset, with the defaults that hold under this name.

    Raises:
        UnknownStrategy: with the nearest name.
    """
    return entry(name).describe()


def create(name: str, settings: Mapping[str, Value], seed: int) -> Strategy:
    """Make a fresh search.

    `settings`: keys of `describe(name)`; values typed, or as text from a command line.

    Raises:
        UnknownStrategy: no such name; the message has the nearest.
        SettingRefused: an unknown key, or a value out of range.
    """
    return entry(name).create(settings, seed)
