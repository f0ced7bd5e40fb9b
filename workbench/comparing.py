"""Attempts of one session side by side: what each is, which is faster, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.best import best
from sessions.labels import labels_of
from sessions.lock import Presence
from sessions.model import ORIGINAL
from workbench import format as fmt
from workbench import launch
from workbench.errors import WrongUsage
from workbench.glyphs import UNICODE, word
from workbench.lookup import attempt as attempt_of
from workbench.outcome_words import NOT_TOLD, noise
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.folder import SessionFolder
    from sessions.model import AttemptRecord, State

UNJUDGED = "not judged"
"""What an attempt is called that waits for a verdict while no engine is there to get one."""
NO_MORE = 6
"""More columns than this are not read beside each other."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A speedup with its 98 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Side:
    """One column: an attempt, or the original."""

    id: str
    word: str
    """Its verdict: a word of `glyphs.VERDICT_WORDS`; `original`."""
    best: bool = False
    banned: bool = False
    eager: Ratio | None = None
    """Over the original as it stands."""
    measured_at: float | None = None
    """Seconds since the epoch; None for the original and while it is judged."""
    cells: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the name of a row of `ROWS`; foreign text made inert."""

    @property
    def comparable(self) -> bool:
        """Whether its speed is measured and believed."""
        return self.word == "correct" and self.eager is not None


ROWS = (
    "verdict", "speedup, 98 %", "over", "over eager", "runtime ms", "precision class", "reached after", "by",
)  # fmt: skip
AGAIN_ROWS = ("again: verdict", "again: speedup", "again: over eager", "again: runtime ms")
"""Measured back to back, on a person's word."""


def pick(found: State, names: Sequence[str]) -> list[str]:
    """Return the ids that were named, each once, in that order.

    Raises:
        WrongUsage: an unknown one, fewer than two, or more than can be read.
    """
    ids = list(dict.fromkeys(names))
    for name in ids:
        if name != ORIGINAL:
            attempt_of(found, name)
    if not 2 <= len(ids) <= NO_MORE:
        raise WrongUsage(f"compare needs two attempts, {NO_MORE} at most; named: {len(ids)}.")
    return ids


def at_work(folder: SessionFolder) -> bool:
    """Return whether an engine runs a session, so that what has no verdict will get one."""
    return launch.presence_now(folder) in (Presence.ALIVE, Presence.FOREIGN)


def sides(found: State, ids: Sequence[str], *, at_work: bool = True) -> list[Side]:
    """Return the columns; the original is added at the end where there is room.

    `at_work`: as the function of that name tells.
    """
    wanted = list(ids) if ORIGINAL in ids or len(ids) >= NO_MORE else [*ids, ORIGINAL]
    champion = best(found)
    return [
        _original(found)
        if name == ORIGINAL
        else _side(found.attempts[name], champion is found.attempts[name], at_work=at_work)
        for name in wanted
    ]


def _side(attempt: AttemptRecord, champion: bool, *, at_work: bool) -> Side:
    verdict = attempt.verdict
    name = word(attempt) if attempt.kind or at_work else UNJUDGED
    after = f"{fmt.money(attempt.cost_then)} · {attempt.queries_then} q" if attempt.kind else ""
    cells = {
        "verdict": verdict_cell(name, verdict, confirmed=attempt.confirmed),
        "speedup, 98 %": ratio_cell(ratio(verdict, "speedup")),
        "over": inert_line(str(verdict.get("baseline") or ""), 40),
        "over eager": ratio_cell(ratio(verdict, "speedup_eager")),
        "runtime ms": fmt.milliseconds(attempt.runtime_ms) if attempt.runtime_ms else "",
        "precision class": precision(verdict),
        "reached after": after,
        "by": inert_line(attempt.author, 24),
    }
    eager = ratio(verdict, "speedup_eager")
    return Side(
        attempt.id, name, champion, attempt.banned, eager, attempt.verdict_at, _dashed(cells)
    )


def _original(found: State) -> Side:
    baseline = found.baseline
    times = dict(zip(baseline.names, baseline.classes, strict=False)) if baseline else {}
    cells = {
        "over eager": fmt.speedup(1.0),
        "runtime ms": fmt.milliseconds(baseline.eager_ms) if baseline else "",
        "precision class": inert_line(times.get("eager", ""), 20).replace("_", "/"),
    }
    return Side(ORIGINAL, "original", cells=_dashed(cells))


def _dashed(cells: Mapping[str, str]) -> dict[str, str]:
    return {name: cells.get(name) or fmt.NONE for name in ROWS}


def ratio(verdict: Mapping[str, Any], name: str) -> Ratio | None:
    """Return `speedup` or `speedup_eager` of a verdict with its interval; None where it was not measured."""
    found = [verdict.get(f"{name}{end}_ratio") for end in ("", "_lo", "_hi")]
    value, low, high = (float(v) if isinstance(v, int | float) else None for v in found)
    if value is None:
        return None
    return Ratio(value, value if low is None else low, value if high is None else high)


def ratio_cell(found: Ratio | None) -> str:
    """Write a speedup with its interval: `1.41× 1.39–1.43`."""
    if found is None:
        return ""
    between = fmt.interval(found.low, found.high) if found.low != found.high else ""
    return f"{fmt.speedup(found.value)} {between}".strip()


def verdict_cell(name: str, verdict: Mapping[str, Any], *, confirmed: bool) -> str:
    """Write a verdict: `correct, confirmed`, `error, build_failed`."""
    code = inert_line(str(verdict.get("code") or ""), 30)
    sure = "confirmed" if confirmed and name == "correct" else ""
    outcome = f"no clear gain{noise(verdict)}" if verdict.get("outcome") == NOT_TOLD else ""
    more = code or sure or outcome
    return f"{inert_line(name, 20)}{f', {more}' if more else ''}"


def precision(verdict: Mapping[str, Any]) -> str:
    """Write a precision class as people do: `tf32/fp16`."""
    return inert_line(str(verdict.get("precision_class") or ""), 20).replace("_", "/")


def again_cells(kind: str, verdict: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of `AGAIN_ROWS` for a verdict measured again."""
    runtime = verdict.get("runtime_ms")
    cells = (
        verdict_cell(kind, verdict, confirmed=bool(verdict.get("confirmed"))),
        ratio_cell(ratio(verdict, "speedup")),
        ratio_cell(ratio(verdict, "speedup_eager")),
        fmt.milliseconds(runtime) if isinstance(runtime, int | float) else "",
    )
    return {name: cell or fmt.NONE for name, cell in zip(AGAIN_ROWS, cells, strict=True)}


def labels(found: State, ids: Sequence[str]) -> list[str]:
    """Return what makes these numbers another kind of number: said wherever they are shown."""
    verdicts = [found.attempts[name].verdict for name in ids if name in found.attempts]
    return labels_of(found.opened, verdicts)


# --- which is faster


def told(found: Sequence[Side]) -> str:
    """Return which is faster and how sure that is, and what is left out of that."""
    attempts = [side for side in found if side.word != "original"]
    ranked = sorted(
        (side for side in attempts if side.comparable), key=lambda s: -(s.eager or _NOTHING).value
    )
    if not ranked:
        what = ", ".join(f"{side.id} {inert_line(side.word, 20)}" for side in attempts)
        return f"None of them is correct and timed, so there is no speed to compare: {what}."
    return " ".join([_first(ranked), *(_left_out(s) for s in attempts if not s.comparable)])


_NOTHING = Ratio(0.0, 0.0, 0.0)


def _first(ranked: Sequence[Side]) -> str:
    first, *rest = ranked
    if not rest:
        return f"{first.id} alone is correct and timed."
    near = [side for side in rest if overlaps(first.eager, side.eager)]
    if len(rest) == 1:
        between = f"({_between(first)} and {_between(rest[0])})"
        if near:
            return f"{first.id} and {rest[0].id} are not told apart: their intervals over eager overlap {between}."
        return f"{first.id} is faster than {rest[0].id}: their intervals over eager are apart {between}."
    if near:
        names = ", ".join(side.id for side in near)
        return f"{first.id} measured fastest, but is not told apart from {names}: intervals over eager overlap."
    return f"{first.id} is the fastest: its interval over eager ({_between(first)}) lies above all others."


def overlaps(one: Ratio | None, other: Ratio | None) -> bool:
    """Return whether two intervals touch, or one is not known."""
    if one is None or other is None:
        return True
    return one.low <= other.high and other.low <= one.high


def _between(side: Side) -> str:
    return fmt.interval(side.eager.low, side.eager.high) if side.eager else ""


def _left_out(side: Side) -> str:
    match side.word:
        case "suspect":
            return f"{side.id} is suspect: its number is not believed until it is confirmed."
        case "running":
            return f"{side.id} is not judged yet."
        case word if word == UNJUDGED:
            return f"{side.id} was not judged: no engine runs the session."
        case "correct":
            return f"{side.id} has no number over eager."
        case _:
            return f"{side.id} is not correct ({inert_line(side.word, 20)}): it has no speed."


def apart_s(found: Sequence[Side]) -> float:
    """Return the seconds between the first and the last measurement."""
    times = [s.measured_at for s in found if s.measured_at is not None and s.comparable]
    return max(times) - min(times) if len(times) > 1 else 0.0


def told_apart(found: Sequence[Side]) -> str:
    """Return how long lies between the measurements; empty within a minute."""
    gap = apart_s(found)
    return f"Measured {fmt.duration(gap)} apart." if gap >= 60 else ""


def told_again(
    found: Sequence[Side], again: Mapping[str, Mapping[str, Any]], elsewhere: str = ""
) -> str:
    """Return which is faster by the measurements made back to back.

    `elsewhere`: where the session itself measures, if not on this machine.
    """
    measured = [
        Side(
            id=side.id,
            word="correct" if again[side.id].get("status") == "ok" else "error",
            eager=ratio(again[side.id], "speedup_eager"),
        )
        for side in found
        if side.id in again
    ]
    here = f" on this machine, not where the session measures ({elsewhere})" if elsewhere else ""
    return f"Measured again, back to back{here}: {told(measured)}" if measured else ""


def head(side: Side) -> str:
    """Return what stands over a column: `c138 ★`."""
    name = "original" if side.word == "original" else inert_line(side.id, 12)
    return f"{name} {UNICODE.best}" if side.best else f"{name} (banned)" if side.banned else name
