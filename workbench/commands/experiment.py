"""`pike experiment`: searches compared under equal budgets; run, list, show, pause, resume, stop."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.experiments import course as courses
from sessions.experiments import folder as folders
from sessions.experiments.plan import OVER, RunState
from workbench import experiment_file, experiment_plan
from workbench import experiment_words as words
from workbench import format as fmt
from workbench.errors import DONE, FAILED, INTERRUPTED, CannotGoOn
from workbench.experiment_runner import Runner, send

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from sessions.experiments.folder import ExperimentFolder
    from sessions.experiments.plan import Run
    from workbench.printing import Printer

LEAVES_S = 100.0
"""A runner looks every second, unless it is starting an engine."""
_LOOK_S = 0.1


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Carry out one act."""
    match typed.act:
        case "run":
            return _run(typed, printer)
        case "list":
            return _list(typed, printer)
        case "show":
            return _show(_named(typed), printer, json=typed.json)
        case "resume":
            return _resume(typed, printer)
        case _:
            return _halt(typed, printer)


def _run(typed: argparse.Namespace, printer: Printer) -> int:
    """Decide everything, say what it will probably cost, and begin."""
    written = experiment_file.read(Path(typed.file))
    root = folders.experiments_root()
    folders.check_name(root, typed.name or written.name or written.path.stem)
    draft = experiment_plan.draft(experiment_file.on(written, typed.executor), typed.name or "")
    _announce(draft, printer, json=typed.json)
    if typed.dry_run:
        return DONE
    folder = folders.create(root, written.text, draft.plan)
    return _go(folder, typed, printer)


def _announce(draft: experiment_plan.Draft, printer: Printer, *, json: bool) -> None:
    plan, found = draft.plan, experiment_plan.outlook(draft.plan)
    runs = sum(one.runs for one in found)
    if json:
        about = {"experiment": plan.name, "tasks": list(plan.tasks), "passed_over": draft.refused}
        about |= {"runs": runs, "outlook": [asdict(one) for one in found]}
        printer.json(about | {"total": asdict(plan.total), "warnings": list(draft.warnings)})
        return
    for warning in draft.warnings:
        printer.talk(f"pike: {warning}")
    for task, why in draft.refused.items():
        printer.talk(f"passed over: {task}: {why}")
    printer.talk(
        f"{plan.name}: {fmt.plural(len(plan.configurations), 'configuration')} × "
        f"{fmt.plural(len(plan.tasks), 'task')} × {fmt.plural(len(plan.seeds), 'repeat')}, "
        f"{fmt.plural(plan.places.sessions, 'session')} at once; {words.at_most(plan, runs)}"
    )
    printer.table(words.OUTLOOK, [words.outlook_cells(one) for one in found])


def _resume(typed: argparse.Namespace, printer: Printer) -> int:
    """Go on: with what was paused or stopped for the experiment's sake, with what needs a person, with the rest."""
    folder = _named(typed)
    folders.RunnerLock.take(folder).release()
    folder.want(folders.Wanted.RUN)
    return _go(folder, typed, printer, wake=True)


def _go(
    folder: ExperimentFolder, typed: argparse.Namespace, printer: Printer, *, wake: bool = False
) -> int:
    if typed.detach:
        more = ["--take-over"] if wake and typed.take_over else []
        return _detach(folder, more, printer, json=typed.json)
    lock = folders.RunnerLock.take(folder)
    try:
        runner = Runner(
            folder,
            _teller(printer, json=typed.json),
            printer.talk,
            take_over=wake and typed.take_over,
        )
        if wake:
            _wake(runner, printer, take_over=typed.take_over)
        runner.drive()
    except KeyboardInterrupt:
        printer.talk(
            f"{folder.name}: nothing new is begun; the sessions under way go on. "
            f"{_ways(folder, 'resume', 'pause', 'show')}"
        )
        return INTERRUPTED
    finally:
        lock.release()
    return _show(folder, printer, json=typed.json, line=typed.json)


def _wake(runner: Runner, printer: Printer, *, take_over: bool) -> None:
    """Have go on what a person wants to go on; what another act paused or stopped is left, and said."""
    runner.forgive()
    for run in list(runner.look().runs):
        by_us = runner.author in run.why
        elsewhere = run.state not in OVER and runner.is_elsewhere(run)
        if elsewhere and not take_over:
            printer.talk(f"{run.session}: {_ELSEWHERE}")
        elif elsewhere and run.state is RunState.RUNNING:
            runner.replace_engine(run)
        elif run.state is RunState.NEEDS_YOU or (run.state in _AT_REST and by_us):
            runner.go_on(run)
        elif run.state in _AT_REST:
            printer.talk(f"{run.session}: {run.why}; `pike resume {run.session}` goes on with it.")


def _detach(folder: ExperimentFolder, more: Sequence[str], printer: Printer, *, json: bool) -> int:
    """Start a runner that outlives this window; `more`: flags for it."""
    argv = [sys.executable, "-P", "-m", "workbench", "experiment", "resume", folder.name, *more]
    with folder.log.open("ab") as log:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    if json:
        printer.json({"experiment": folder.name, "runner": process.pid})
    else:
        printer.data(folder.name)
    printer.talk(
        f"{folder.name} is driven by process {process.pid}. {_ways(folder, 'show', 'pause')}"
    )
    return DONE


def _halt(typed: argparse.Namespace, printer: Printer) -> int:
    """Pause or stop: its runner leaves, then every session under way is told."""
    folder = _named(typed)
    stop = typed.act == "stop"
    folder.want(folders.Wanted.STOP if stop else folders.Wanted.PAUSE)
    deadline = time.monotonic() + LEAVES_S
    while folder.driver is not None and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    runner = Runner(folder)
    told = [run for run in runner.look().runs if run.state is RunState.RUNNING]
    for run in told:
        send(runner.session(run), typed.act, runner.author, now=typed.now)
    said = "is stopping" if stop else "is pausing"
    how = "were told to, at once" if typed.now else "finish what is in flight"
    printer.talk(
        f"{folder.name} {said}: {fmt.plural(len(told), 'session')} {how}. {_ways(folder, 'resume')}"
    )
    if folder.driver is not None:
        raise CannotGoOn(f"the runner of {folder.name}, process {folder.driver}, has not left yet.")
    return DONE


def _list(typed: argparse.Namespace, printer: Printer) -> int:
    found = [_glance(folder) for folder in folders.all_in(folders.experiments_root())]
    if typed.json:
        printer.pretty(found)
    elif not found:
        printer.talk("No experiments yet. `pike experiment run FILE.toml` starts one.")
    else:
        head = ("state", "name", "over", "runs", "configurations", "tasks")
        printer.table(head, [tuple(str(row[key]) for key in head) for row in found])
    return DONE


def _glance(folder: ExperimentFolder) -> dict[str, Any]:
    plan, runs = folder.plan, folder.runs
    return {
        "state": words.state_of(folder, runs),
        "name": folder.name,
        "over": sum(run.state in OVER for run in runs),
        "runs": len(runs),
        "configurations": len(plan.configurations),
        "tasks": len(plan.tasks),
        "folder": str(folder.path),
    }


def _show(folder: ExperimentFolder, printer: Printer, *, json: bool, line: bool = False) -> int:
    """Print how every run stands; 0 if all that can be done is done well."""
    runner = Runner(folder)
    now = runner.look(keep=folder.driver is None)
    spent = courses.spending(runner.plan, now.runs, runner.rows)
    if json:
        told = _glance(folder) | {"spent": asdict(spent), "total": asdict(runner.plan.total)}
        told["runs"] = [words.as_json(r, runner.rows.get(r.session, {})) for r in now.runs]
        (printer.json if line else printer.pretty)(told)
    else:
        table = [words.cells(r, runner.rows.get(r.session, {})) for r in now.runs]
        printer.table(words.HEAD, table, right=words.RIGHT)
        for why in words.whys(now.runs):
            printer.talk(why)
        printer.talk(f"{words.progress(now.runs)}; {words.spending(spent, runner.plan.total)}")
        if any(run.state not in OVER for run in now.runs) and folder.driver is None:
            printer.talk(_ways(folder, "resume"))
    return DONE if all(run.state is RunState.FINISHED for run in now.runs) else FAILED


_ELSEWHERE = "its engine is on another host, or was when that went down; if it is gone, resume with --take-over."
_AT_REST = (RunState.PAUSED, RunState.STOPPED)


def _teller(printer: Printer, *, json: bool) -> Any:
    def tell(run: Run, row: Mapping[str, Any]) -> None:
        if json:
            printer.json(words.as_json(run, row))
        else:
            printer.data(f"{fmt.clock(time.time())}  {words.line(run, row)}")

    return tell


def _named(typed: argparse.Namespace) -> ExperimentFolder:
    return folders.find(folders.experiments_root(), typed.name)


def _ways(folder: ExperimentFolder, *acts: str) -> str:
    says = {"resume": "goes on", "pause": "pauses them", "show": "tells how it stands"}
    return ", ".join(f"`pike experiment {act} {folder.name}` {says[act]}" for act in acts) + "."
