"""The self-test: known cheats and honest oddities, run on this machine through the evaluator's own processes.

A case is a file: a header of `# name: value` lines (`id`, `kind`, `task`, `expect` as status[/code], `needs`, and
`outcome` where being faster would be the cheat), then the candidate; a special task stands between `# --- task ---` and
`# --- candidate ---`. `needs` is `cpu` for any device, `cuda` for a GPU, `host` for what works on host memory only.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_server.artifacts import new_id
from mcp_server.contract import Status
from mcp_server.errors import EvaluatorError
from mcp_server.evaluate import StageLimits
from mcp_server.executor import Work
from mcp_server.local import LocalExecutor, open_local
from mcp_server.selftest import table
from mcp_server.selftest.rows import Row
from mcp_server.tasks import Task, Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from mcp_server.contract import Precision, Verdict
    from mcp_server.machine import Device
    from mcp_server.setting import Setting

CASES = Path(__file__).parent / "cases"
_HEADER = re.compile(r"^# ([a-z]+): (.*)$")
_TASK, _CANDIDATE = "# --- task ---", "# --- candidate ---"
_LIMITS = StageLimits(qualify=1, grace=300)
"""Short qualification: no case needs a compiled baseline, and each would cost half a minute."""
_NEVER_BEATEN = 1e9
"""Nothing is ranked here, so nothing is measured a second time to be believed a best."""
_TRIES = 3
"""As many as the engine makes where the machine was at fault."""
_PRECISIONS: dict[str, Precision] = {"fp32": "fp32", "tf32": "tf32", "half": "half"}


class BadCase(EvaluatorError):
    """A case's file lacks a part."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing the evaluator must judge in a certain way."""

    id: str
    kind: str
    expect: tuple[str, ...]
    """Verdicts that will do: `status` or `status/code`."""
    needs: str
    outcome: tuple[str, ...]
    """What a right answer's speedup may be called; empty where anything will do."""
    task: str
    """An id, or the source of the case's own task."""
    source: str
    precision: Precision

    def own_task(self) -> bool:
        """Return whether the case brings its task."""
        return "\n" in self.task


def main(setting: Setting, ids: Sequence[str], *, as_json: bool, output: Path | None = None) -> int:
    """Run the cases, print each, and return 1 if one was judged otherwise than expected.

    Raises:
        EvaluatorError: no such case, or this machine cannot evaluate.
    """
    cases = _chosen(ids)
    tell = partial(_tell, len(cases), sys.stderr if as_json else sys.stdout)
    device, rows = anyio.run(partial(_run, setting, cases, tell))
    if output is not None:
        table.write(output, device, rows)
    if as_json:
        sys.stdout.write(json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    else:
        sys.stdout.write(table.summary(rows) + "\n")
    return 1 if any(r.passed is False for r in rows) else 0


def _tell(total: int, stream: TextIO, number: int, row: Row) -> None:
    stream.write(f"{number:>{len(str(total))}}/{total} {_line(row)}")
    stream.flush()


def read(path: Path) -> Case:
    """Return the case of a file.

    Raises:
        BadCase: the header is not whole.
    """
    text = path.read_text(encoding="utf-8")
    found = _header(text)
    outcome = tuple(word.strip() for word in found.get("outcome", "").split("|") if word.strip())
    try:
        own = _between(text) if _TASK in text else found["task"]
        expect = tuple(part.strip() for part in re.split(r"\s+or\s+|\|", found["expect"]))
        source = text.split(_CANDIDATE, 1)[1] if _CANDIDATE in text else text
        precision = _PRECISIONS[found.get("precision", "half")]
        needs = found.get("needs", "cpu")
        return Case(path.stem, found["kind"], expect, needs, outcome, own, source, precision)
    except KeyError as error:
        raise BadCase(f"{path.name} has no line '# {error.args[0]}: …': add it.") from error


def _header(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _HEADER.match(line)
        if match is None:
            break
        found[match[1]] = match[2].strip()
    return found


def _between(text: str) -> str:
    return text.split(_TASK, 1)[1].split(_CANDIDATE, 1)[0].lstrip("\n")


def _chosen(ids: Sequence[str]) -> list[Case]:
    cases = [read(path) for path in sorted(CASES.glob("*.py"))]
    known = {case.id for case in cases}
    wanted = [word for name in ids for word in name.replace(",", " ").split()]
    for word in wanted:
        if not any(_is_of(case, word) for case in cases):
            raise BadCase(f"There is no case {word!r}: cases are {', '.join(sorted(known))}.")
    chosen = [case for case in cases if not wanted or any(_is_of(case, w) for w in wanted)]
    # A judge keeps a task's measurements: cases of one task stand together.
    return sorted(chosen, key=lambda case: (case.task, case.precision, case.id))


def _is_of(case: Case, word: str) -> bool:
    """Return whether a word names a case, or the row of known cheats that it shows."""
    return word in (case.id, case.id.partition("-")[0])


async def _run(
    setting: Setting, cases: Sequence[Case], tell: Callable[[int, Row], None]
) -> tuple[Device, list[Row]]:
    # A home of its own: its hasty qualifications are not to be kept for real work.
    with tempfile.TemporaryDirectory(prefix="pike-selftest-") as home:
        setting = replace(setting, home=Path(home), stage_limits=_LIMITS)
        return await _rows(setting, cases, tell)


async def _rows(
    setting: Setting, cases: Sequence[Case], tell: Callable[[int, Row], None]
) -> tuple[Device, list[Row]]:
    rows: dict[str, Row] = {}
    async with open_local(setting) as executor:
        device = await executor.check_device("auto")
        free = anyio.CapacityLimiter(await _at_once(executor, device))

        async def one(case: Case) -> None:
            async with free:
                why = _unfit(case, device)
                row = _skipped(case, why) if why else await _row(executor, setting, case)
            rows[case.id] = row
            tell(len(rows), row)

        async with anyio.create_task_group() as group:
            for case in cases:
                group.start_soon(one, case)
    return device, [rows[case.id] for case in cases]


async def _at_once(executor: LocalExecutor, device: Device) -> int:
    """Return how many cases a device has room for: what is timed has a GPU alone all the same, but no processor."""
    places = [place for place in await executor.places() if place.device == device.name]
    return max(1, *(place.of + (place.ahead if device.is_gpu else 0) for place in places))


async def _row(executor: LocalExecutor, setting: Setting, case: Case) -> Row:
    task = _task(setting, case)
    began = time.monotonic()
    verdict = await _judged(executor, task, case)
    for _ in range(_TRIES - 1):
        if _passes(case, verdict) or verdict.status not in (Status.INFRA_ERROR, Status.OK):
            break
        verdict = await _judged(executor, task, case)
    seconds = round(time.monotonic() - began, 1)
    got, passed = _got(case, verdict), _passes(case, verdict)
    cause = "" if passed else verdict.cause or ""
    return Row(case.id, case.kind, " or ".join(case.expect), got, passed, seconds, cause)


async def _judged(executor: LocalExecutor, task: Task, case: Case) -> Verdict:
    work = Work(new_id("job"), task, case.source, precision=case.precision, beat=_NEVER_BEATEN)
    return (await executor.run(work, lambda _stage, _detail: None)).verdict


def _passes(case: Case, verdict: Verdict) -> bool:
    """Return whether a verdict is one that the case expects, and no faster than it may be."""
    if verdict.status is Status.OK and case.outcome and verdict.outcome not in case.outcome:
        return False
    return any(said in case.expect for said in (str(verdict.status), _code(verdict)))


def _task(setting: Setting, case: Case) -> Task:
    if not case.own_task():
        return Tasks(setting.home).get(case.task)
    return Task(f"selftest/{case.id}", case.kind, case.task, CASES / f"{case.id}.py")


def _code(verdict: Verdict) -> str:
    return f"{verdict.status}/{verdict.code}" if verdict.code else str(verdict.status)


def _got(case: Case, verdict: Verdict) -> str:
    told = verdict.status is Status.OK and bool(case.outcome)
    return f"ok, {verdict.outcome}" if told else _code(verdict)


def _unfit(case: Case, device: Device) -> str:
    """Return why a case cannot be run on a device; nothing if it can."""
    if case.needs == "cuda" and not device.is_gpu:
        return "needs a GPU"
    return "for host memory" if case.needs == "host" and device.is_gpu else ""


def _skipped(case: Case, why: str) -> Row:
    return Row(case.id, case.kind, " or ".join(case.expect), f"skipped: {why}", None, 0.0)


def _line(row: Row) -> str:
    marks: dict[bool | None, Literal["ok", "differs", "skipped"]]
    marks = {True: "ok", False: "differs", None: "skipped"}
    cause = f"  {row.cause}" if row.cause else ""
    return (
        f"{marks[row.passed]:<8} {row.id:<14} {row.expected:<32} {row.got:<32} "
        f"{row.seconds:6.1f} s  {row.kind}{cause}\n"
    )
