"""Tasks as a list tells them: the state of each, what it needs and has not, its title."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from workbench.format import plural, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = dict[str, Any]

HEAD = ("id", "state", "about")


def in_suite(rows: Iterable[Row], named: str) -> list[Row]:
    """Return the rows of a suite, or of a level of one or of several."""
    wanted = f"/{named.strip('/')}/"
    return [row for row in rows if wanted in f"/{row['id']}"]


def cells(row: Row) -> tuple[str, str, str]:
    """Return what a table says of a task."""
    state = str(row.get("state") or "not tried")
    policy = f" ({row['policy']})" if row.get("policy") else ""
    return (str(row["id"]), f"{state}{policy}", about(row))


def about(row: Mapping[str, Any]) -> str:
    """Return why a task cannot judge, else what it lacks, else its title."""
    state = row.get("state")
    reason = str(row.get("reason") or "")
    told = [reason] if reason and state != "qualified" else []
    told += [f"needs {need}" for need in lacking(row)] if state != "qualified" else []
    return "; ".join(told) or str(row.get("title") or "")


def lacking(row: Mapping[str, Any]) -> list[str]:
    """Return in words what a task needs that is not here, or that nobody can tell."""
    needs = cast("list[Row]", row.get("needs") or [])  # JSON
    away = [need for need in needs if not need.get("here")]
    packages = [str(need["what"]) for need in away if need["kind"] == "package"]
    named = [f"{', '.join(packages)}, not installed here"] if packages else []
    return named + [_lacking(need) for need in away if need["kind"] != "package"]


def _lacking(need: Row) -> str:
    what = str(need.get("what") or "")
    match need.get("kind"):
        case "weights":
            return f"weights of {what}" if what else "weights from elsewhere"
        case "network":
            return f"the network ({what}), which the sandbox has not"
        case "file":
            return f"the file {what}" if what else "a file"
        case "cuda":
            return "a GPU, which this machine lacks"
        case "memory":
            return f"{size(int(what))} for one set of inputs; 1 GiB is the limit"
        case kind:
            return f"{kind} {what}".strip()


def summary(rows: Sequence[Row]) -> str:
    """Return how many there are in each state."""
    counts = Counter(str(row.get("state") or "not tried") for row in rows)
    told = [f"{count} {state}" for state, count in counts.most_common()]
    waiting = sum(1 for row in rows if row.get("state") == "not tried" and lacking(row))
    verb = "needs" if waiting == 1 else "need"
    more = f"; {waiting} of those not tried {verb} what is not here" if waiting else ""
    return f"{plural(len(rows), 'task')}: {', '.join(told)}{more}."
