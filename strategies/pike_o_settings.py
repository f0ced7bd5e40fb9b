"""What a person may set of a PIKE-O search; the paper's ablation as presets.

| preset | leaves out of the one before |
| --- | --- |
| pike-o | |
| -nofix | the error fixing agent |
| -mut | crossover (with the fixes back) |
| -npar | parallel trajectories, and the original's seat in the archive |
| -1isl | all islands but one |
| -eo | every draw that does not exploit the archive |
| -sl | most of the archive |

Source: arXiv 2511.16964; what the paper does not name follows the configurations of pike-project/pike-openevolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.errors import SettingRefused
from strategies.settings import number, share, switch, word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.settings import Value


@dataclass(frozen=True, slots=True)
class PikeOSettings:
    """The knobs; defaults are those of the preset `pike-o`."""

    queries: int = number(300, 1, 1_000_000, "hard limit on calls to language models")
    places: int = number(10, 1, 1_000, "trajectories that run at once")
    fixes: int = number(5, 0, 100, "fixes of one trajectory after its first answer")
    fix_memory: int = number(
        0, 0, 100, "earlier attempts of the chain shown to the error fixing agent"
    )
    prompt: str = word(
        "cross", ("cross", "improve"), "show elites and inspirations beside the parent, or it alone"
    )
    islands: int = number(3, 1, 100, "separate populations")
    population: int = number(25, 2, 1_000, "entries of all islands together")
    archive: int = number(12, 1, 1_000, "seats of the archive, from which exploiting draws")
    explore: float = share(0.2, "share of parents drawn from the whole island")
    exploit: float = share(
        0.7, "share of parents drawn from the archive; what is left draws from all"
    )
    original_in_archive: bool = switch(True, "the original may take a seat in the archive")
    elites: int = number(5, 0, 100, "fastest of the parent's island in a cross prompt")
    inspirations: int = number(3, 0, 100, "other entries of the island in a cross prompt")
    elite_ratio: float = share(0.2, "share of the inspirations that are the island's fastest")
    migration_interval: int = number(50, 1, 1_000_000, "generations between two migrations")
    migration_rate: float = share(0.1, "share of an island that is copied to its neighbours")
    grid: int = number(10, 1, 100, "cells of each side of the grid, code length by diversity")
    queue_ahead: bool = switch(
        False, "choose parents long before a place is free, as the public code does"
    )
    failed_in_library: bool = switch(
        False, "keep failed candidates too, at score 0, as the public code does"
    )

    def __post_init__(self) -> None:
        """Refuse shares that are more than the whole.

        Raises:
            SettingRefused: explore and exploit together exceed 1.
        """
        if self.explore + self.exploit > 1 + 1e-9:
            total = f"explore {self.explore:g} and exploit {self.exploit:g}"
            raise SettingRefused(
                f"pike-o: {total} are shares of one whole, but exceed 1 together; lower one of them."
            )


_MUT: Mapping[str, Value] = {"prompt": "improve"}
_NPAR = {**_MUT, "places": 1, "original_in_archive": False}
_ONE = {**_NPAR, "islands": 1}
_EO = {**_ONE, "explore": 0.0, "exploit": 1.0}
_SL = {**_EO, "archive": 4}

PRESETS: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    "pike-o": ("islands, an archive and crossover, after OpenEvolve", {}),
    "pike-o-nofix": ("pike-o without the error fixing agent", {"fixes": 0}),
    "pike-o-mut": ("pike-o with mutation instead of crossover", _MUT),
    "pike-o-mut-npar": ("pike-o-mut, one trajectory at a time", _NPAR),
    "pike-o-mut-npar-1isl": ("pike-o-mut-npar on one island", _ONE),
    "pike-o-mut-npar-1isl-eo": ("pike-o-mut-npar-1isl that only exploits its archive", _EO),
    "pike-o-mut-npar-1isl-eo-sl": ("pike-o-mut-npar-1isl-eo with an archive of four", _SL),
}
"""Name to what it says of itself and what it sets; each row of the paper's ablation."""
