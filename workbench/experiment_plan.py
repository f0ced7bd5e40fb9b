"""From an experiment's file to a plan in which everything is decided, and what it will probably cost."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sessions import folder as folders
from sessions.experiments.plan import Budget, Configuration, Plan
from sessions.models.port import MAX_TOKENS, ModelError
from sessions.start import NewSession
from sessions.summary import rows
from strategies.errors import StrategyError
from workbench import config, evaluator, experiment_tasks, kept_models, model_choice, starting
from workbench.errors import CannotGoOn, WorkbenchError, WrongUsage
from workbench.expected import ahead, expected
from workbench.run_line import FLAGS, OPTIONS
from workbench.task_files import NamedTask, of_row, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.config import Settings, Value
    from workbench.experiment_file import Written

T = TypeVar("T")
OF_A_RUN = ("task", "source", "name", "seed")
"""Fields of a session that its run decides."""
SOURCE_LIMIT = 1_000_000
"""Characters of a task's text."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An experiment that can begin."""

    plan: Plan
    refused: Mapping[str, str]
    """Tasks that no session can be started on, to why; they are not in the plan."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the runs of one configuration will probably cost and take, all together."""

    configuration: str
    runs: int
    told: str
    """Of one run."""
    cost_usd: float | None
    hours: float | None
    """Of searching, added; None where there is nothing to tell it from."""


def draft(written: Written, name: str = "") -> Draft:
    """Decide everything; nothing is written. Blocking: the evaluator is asked about machine and tasks.

    Raises:
        WrongUsage, CannotGoOn: something stands in the way; with file and line.
    """
    beside = written.path.absolute().parent
    named = _at(written.at("tasks"), lambda: experiment_tasks.expand(written.tasks, beside))
    tasks, refused = _read(named)
    made = [_configuration(written, each, tasks, refused) for each in written.configurations]
    left = {task: tasks[task] for task in named if task in tasks and task not in refused}
    if not left:
        raise CannotGoOn(f"{written.at('tasks')}: no task is left: {next(iter(refused.values()))}")
    plan = Plan(
        name=name or written.name or written.path.stem,
        tasks={task: _digest(found.source) for task, found in left.items()},
        seeds=written.seeds,
        configurations=tuple(configuration for configuration, _ in made),
        total=_budget(written.total),
        places=written.places,
        tables=made[0][1].tables,
    )
    _check_total(written, plan)
    warnings = dict.fromkeys(word for _, ready in made for word in ready.warnings)
    return Draft(plan, refused, (*warnings, *_unequal(plan)))


def source_of(plan: Plan, task: str) -> str:
    """Return the text of a task as it was when the experiment began.

    Raises:
        WorkbenchError: it is gone, or has changed since.
    """
    row = next((row for row in evaluator.tasks() if row["id"] == task), None)
    if row is None:
        raise CannotGoOn(f"there is no task {task} any more")
    source = text(Path(row["path"]), SOURCE_LIMIT)
    if _digest(source) != plan.tasks[task]:
        raise CannotGoOn(f"the text of {task} has changed since the experiment began")
    return source


def outlook(plan: Plan) -> list[Outlook]:
    """Return what each configuration will probably cost and take."""
    earlier = rows(folders.sessions_root())
    return [_outlook(plan, one, earlier) for one in plan.configurations]


def _outlook(plan: Plan, one: Configuration, earlier: list[dict[str, Any]]) -> Outlook:
    of_it = [_request(one, task) for task in plan.tasks]
    told = [expected(ahead(request), earlier) for request in of_it]
    costs = [estimate.cost_usd for estimate, _ in told]
    hours = [estimate.hours for estimate, _ in told]
    repeats = len(plan.seeds)
    return Outlook(
        configuration=one.name,
        runs=repeats * len(of_it),
        told=told[0][1],
        cost_usd=0.0 if one.free else _total(costs, repeats),
        hours=_total(hours, repeats),
    )


def _request(one: Configuration, task: str) -> NewSession:
    whole: dict[str, Any] = {**one.request, "task": task, "source": ""}
    return NewSession(**whole)


def _total(values: list[float | None], repeats: int) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) * repeats if len(known) == len(values) else None


def _read(named: tuple[str, ...]) -> tuple[dict[str, NamedTask], dict[str, str]]:
    """Return the tasks whose text can be read, and why the others cannot."""
    by_id = {str(row["id"]): row for row in evaluator.tasks()}
    found: dict[str, NamedTask] = {}
    refused: dict[str, str] = {}
    for task in named:
        row = by_id[task]
        if row.get("state") == "unfit":
            refused[task] = f"it cannot judge candidates: {row.get('reason')}"
            continue
        try:
            found[task] = of_row(row)
        except WorkbenchError as error:
            refused[task] = str(error)
    return found, refused


def _configuration(
    written: Written, name: str, tasks: Mapping[str, NamedTask], refused: dict[str, str]
) -> tuple[Configuration, starting.Plan]:
    """Return a configuration, decided, with its first session; tasks that do not fit it join the refused."""
    given = written.configurations[name]
    flags: dict[str, Value] = {flag: given.get(flag) for flag in (*FLAGS, *OPTIONS)}
    settings = config.load(flags)
    ready = _first(written, name, settings, tasks, refused)
    for task in tasks.values():
        try:
            starting.check_task(task, ready.request.device, ready.request.models)
        except WorkbenchError as error:
            refused.setdefault(task.id, str(error))
    request = {key: value for key, value in asdict(ready.request).items() if key not in OF_A_RUN}
    limits = ready.request.limits
    queries = limits.get("queries")
    budget = Budget(
        None if queries is None else int(queries), limits.get("cost_usd"), limits.get("hours")
    )
    return Configuration(name, request, budget, _is_free(ready)), ready


def _first(
    written: Written,
    name: str,
    settings: Settings,
    tasks: Mapping[str, NamedTask],
    refused: dict[str, str],
) -> starting.Plan:
    """Return the configuration's session on the first task that can have one."""
    given, looked = written.configurations[name], [""]
    for task in tasks:
        wish = starting.Wish(task, assign=given["set"], instructions=given["instructions"])
        try:
            return starting.plan(wish, settings, looked.append)
        except (WorkbenchError, StrategyError) as error:
            if looked[-1] != "task":
                raise _placed(written, name, looked[-1], error) from error
            refused.setdefault(task, str(error))
    raise CannotGoOn(f"{written.at('tasks')}: no task is left: {next(iter(refused.values()))}")


def _placed(written: Written, name: str, looked: str, error: Exception) -> WorkbenchError:
    """Return the refusal with the line that it is about."""
    inside = looked in written.configurations[name] and bool(written.configurations[name][looked])
    own = written.at("configurations", name, looked)
    at = written.at(looked) if inside and own == written.at("configurations", name) else own
    kind = type(error) if isinstance(error, WorkbenchError) else WrongUsage
    return kind(f"{at}: {error}")


def _is_free(ready: starting.Plan) -> bool:
    known = model_choice.catalog(ready.tables)
    try:
        models = [known.resolve(name) for name in kept_models.each(ready.request.models)]
    except ModelError:
        return False
    return all(m.estimate_usd(model_choice.sample_prompt(), MAX_TOKENS) == 0.0 for m in models)


def _budget(table: Mapping[str, Any]) -> Budget:
    limits = {key: None if value == config.NO_LIMIT else value for key, value in table.items()}
    return Budget(limits.get("queries"), limits.get("cost"), limits.get("time"))


def _check_total(written: Written, plan: Plan) -> None:
    """Refuse a budget over all that not one run of a configuration fits into."""
    for key, name in (("queries", "queries"), ("cost", "cost_usd")):
        total = getattr(plan.total, name)
        for one in plan.configurations:
            most = getattr(one.budget, name)
            if total is None or (name == "cost_usd" and one.free):
                continue
            if most is None:
                why = f"a run of {one.name} has no limit of {key}, so that of all cannot hold. Set it in [each]."
            elif most > total:
                why = f"one run of {one.name} may take {most:g}, more than the {total:g} of all. Set it in [each]."
            else:
                continue
            raise WrongUsage(f"{written.at('total', key)}: {key}: {why}")


def _unequal(plan: Plan) -> tuple[str, ...]:
    if plan.is_equal:
        return ()
    return ("the configurations have different budgets, so what they find is not to be compared",)


def _at(where: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except WorkbenchError as error:
        raise type(error)(f"{where}: {error}") from error


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
