"""The winners of all sessions as files: for each task and GPU model the best candidate, with provenance and evidence.

```
DIR/TASK--GPU-MODEL/candidate.py   its provenance in comment lines at the top
DIR/TASK--GPU-MODEL/evidence.json  for `pike replay`
DIR/winners.md  winners.csv        a line for each
```
Of several sessions on a task, the winner is chosen as a session's best is: confirmed first, then the fastest, here
over eager, since only that is common to all precision classes; counted by the second measurement where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.journal import Reader
from sessions.report_means import number
from sessions.report_reading import runs_of
from sessions.report_runs import Run
from workbench import bundling, provenance
from workbench.errors import CannotGoOn
from workbench.report_cells import measured_fields, measured_words, percent, precision, times
from workbench.report_files import as_csv, slug
from workbench.report_markdown import table_lines
from workbench.report_table import cost, name, table
from workbench.version import version

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from sessions.report_best import Found
    from sessions.report_reading import Reading
    from workbench.report_table import Table

TABLE = "winners"
SOURCE, EVIDENCE = "candidate.py", "evidence.json"


@dataclass(frozen=True, slots=True)
class Winner:
    """The best candidate of a task on a GPU model."""

    reading: Reading
    run: Run
    best: Found
    sessions: int
    """How many were on that task and GPU model."""


def winners(found: Sequence[Reading]) -> list[Winner]:
    """Return the winners, by task and GPU model."""
    places: dict[tuple[str, str, str], list[Winner]] = {}
    for reading, run in runs_of(found):
        if isinstance(run, Run) and run.best is not None:
            place = (run.task, run.device, run.task_sha256)
            places.setdefault(place, []).append(Winner(reading, run, run.best, 0))
    return [_first(places[place]) for place in sorted(places)]


def _first(several: Sequence[Winner]) -> Winner:
    """Return the best of several; of equals, that of the oldest session."""
    top = max(several, key=lambda w: (w.best.confirmed, w.best.eager.value))
    return Winner(top.reading, top.run, top.best, len(several))


def export(found: Sequence[Winner], out: Path) -> list[str]:
    """Write the winners into a folder; return what went wrong with single evidence files.

    Raises:
        CannotGoOn: the folder cannot be written.
    """
    folders = _folders(found)
    try:
        troubles = [
            trouble
            for winner, folder in zip(found, folders, strict=True)
            for trouble in _write(winner, out / folder)
        ]
        listed = as_table(found, folders)
        page = ["# Winners", "", f"Written by pike {version()}.", *table_lines(listed)]
        (out / f"{TABLE}.md").write_text("\n".join(page) + "\n", encoding="utf-8", errors="replace")
        (out / f"{TABLE}.csv").write_bytes(as_csv(listed.raw))
    except OSError as error:
        why = error.strerror or str(error)
        raise CannotGoOn(
            f"cannot write the winners to {out}: {why}; choose another folder."
        ) from error
    return troubles


def _folders(found: Iterable[Winner]) -> list[str]:
    """Return a folder's name for each winner: two texts of one task have a piece of their hash in it."""
    made: list[str] = []
    for winner in found:
        plain = f"{slug(winner.run.task)}--{slug(winner.run.device)}"
        made.append(plain if plain not in made else f"{plain}-{winner.run.task_sha256[:8]}")
    return made


def _write(winner: Winner, folder: Path) -> Iterable[str]:
    reading = winner.reading
    attempt = reading.state.attempts[winner.best.id]
    folder.mkdir(parents=True, exist_ok=True)
    with Reader(reading.chosen.folder.journal) as reader:
        source = reader.text(attempt.source_key)
    head = provenance.header(reading.state, attempt, version())
    (folder / SOURCE).write_text(head + source, encoding="utf-8", errors="surrogatepass")
    try:
        bundling.write(reading.chosen.folder, reading.state, attempt, folder / EVIDENCE)
    except CannotGoOn as error:
        yield f"{folder.name} has no evidence: {error}"


def as_table(found: Sequence[Winner], folders: Sequence[str]) -> Table:
    """Return a line for each winner."""
    pairs = list(zip(found, folders, strict=True))
    head = ("task", "GPU model", "session", "candidate", "over eager, 98 %", "over the best plain", "class",
            "own kernels", "confirmed", "measured again", "sessions", "cost of its session", "folder")  # fmt: skip
    rows = [_words(winner, folder) for winner, folder in pairs]
    raw = [_fields(winner, folder) for winner, folder in pairs]
    says = (
        "For each task and GPU model the best of all sessions; the number is the second measurement's where there "
        "is one. The best of several sessions has their luck in it."
    )
    return table(TABLE, "Winners", says, head, rows, raw, 4)


def _words(winner: Winner, folder: str) -> tuple[str, ...]:
    run, best = winner.run, winner.best
    gain = number(run, "plain")
    return (
        name(run.task), name(run.device), name(run.session), f"{best.id}{' (plain)' if best.plain else ''}",
        measured_words(best.eager), times(gain.value if gain else None), precision(best.precision),
        percent(best.own_share),
        "yes" if best.confirmed else "no", "yes" if best.again else "no", str(winner.sessions),
        cost(run.cost_usd, run.unpriced, run.estimated_usd), folder,
    )  # fmt: skip


def _fields(winner: Winner, folder: str) -> dict[str, Any]:
    run, best = winner.run, winner.best
    return {
        "task": run.task,
        "task_sha256": run.task_sha256,
        "device": run.device,
        "session": run.session,
        "candidate": best.id,
        "commit": winner.reading.state.attempts[best.id].commit,
        **measured_fields(best.eager, "eager_"),
        **measured_fields(best.baseline, "baseline_"),
        "precision_class": best.precision,
        "own_kernel_share": best.own_share,
        "confirmed": best.confirmed,
        "measured_again": best.again,
        "is_plain": best.plain,
        "sessions": winner.sessions,
        "models": " + ".join(run.models),
        "strategy": run.strategy,
        "cost_usd": run.cost_usd,
        "folder": folder,
    }
