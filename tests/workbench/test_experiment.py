"""`pike experiment`: every strategy side by side, killed, paused, refused; engines and evaluator are fated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.experiments.folder import ExperimentFolder
from sessions.folder import SessionFolder, all_in
from sessions.lock import holder
from strategies import registry
from tests.workbench.fated_entry import LOG
from workbench import lookup
from workbench.experiment_runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sessions.model import State

ROOT = Path(__file__).parents[2]
LIMIT_S = 120.0
"""For another process, on a machine that others use too."""
TASK = ROOT / "mcp_server" / "starter" / "softmax.py"
EQUAL = 14
"""Queries of every run."""


@dataclass
class Lab:
    """A state folder, a file, and the command in a process of its own."""

    home: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict[str, str])
    begun: ExitStack = field(default_factory=ExitStack)
    """Ends what was started."""

    def write(self, text: str, name: str = "lab.toml") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start `pike experiment WORDS`."""
        argv = [sys.executable, "-m", "tests.workbench.fated_pike", "experiment", *words]
        env = os.environ | {"PIKE_HOME": str(self.home), "PYTHONPATH": str(ROOT)} | self.env
        found = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT
        )
        self.begun.enter_context(found)
        self.begun.callback(found.kill)
        return found

    def pike(self, *words: str) -> tuple[int, str, str]:
        """Carry out `pike experiment WORDS`; return exit code, stdout, stderr."""
        process = self.begin(*words)
        out, err = process.communicate(timeout=LIMIT_S)
        return process.returncode, out, err

    @property
    def experiment(self) -> ExperimentFolder:
        return ExperimentFolder(self.home / "experiments" / "lab")

    @property
    def states(self) -> dict[str, int]:
        """Return how many runs of the experiment `lab` are in which state."""
        runs = Runner(self.experiment).look(keep=False).runs
        return dict(Counter(run.state.value for run in runs))

    @property
    def sessions(self) -> list[SessionFolder]:
        return all_in(self.home / "sessions")

    def state(self, name: str) -> State:
        return lookup.state(SessionFolder(self.home / "sessions" / name))

    def asked(self) -> dict[str, list[str]]:
        """Return the answers that each session paid for."""
        logs = {found.name: found.path / LOG for found in self.sessions}
        return {
            name: log.read_text(encoding="utf-8").splitlines() if log.exists() else []
            for name, log in logs.items()
        }


@pytest.fixture
def lab(home: Path, tmp_path: Path) -> Iterator[Lab]:
    folder = tmp_path / "lab"
    folder.mkdir()
    with ExitStack() as begun:
        found = Lab(home, folder, begun=begun)
        yield found
        driver = found.experiment.driver
        if driver:
            with suppress(ProcessLookupError):  # it may end just now
                os.kill(driver, signal.SIGKILL)


def until(true: Callable[[], bool]) -> None:
    """Wait for something in another process."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline, "this took too long"
        time.sleep(0.05)


def text_of(configurations: str, *, head: str = "", tasks: str = '"starter/softmax"') -> str:
    return (
        f'tasks = [{tasks}]\nmodel = "offline"\ndevice = "cpu"\n{head}\n'
        f"[each]\nqueries = {EQUAL}\ncost = 2\n{configurations}"
    )


def configuration(name: str, strategy: str = "pike-b", more: str = "") -> str:
    places = "places = 1" if "npar" in name else "places = 3"
    return f'[configurations.{name}]\nstrategy = "{strategy}"\nset = {{ {places}{more} }}\n'


def test_every_preset_does_in_one_experiment_what_its_name_says(lab: Lab) -> None:
    names = [name for name in registry.names() if name != "external"]
    tables = "".join(configuration(name, name, _small(name)) for name in names)
    lab.write(text_of(f"[places]\nsessions = 3\nmodel_calls = 6\nevaluations = 3\n{tables}"))
    code, out, err = lab.pike("run", str(lab.folder / "lab.toml"))
    assert code == 0, err
    assert f"{len(names)} runs: {len(names)} finished" in err
    for name in names:
        state = lab.state(f"lab.{name}.softmax.1")
        assert state.spending.queries == EQUAL, name
        assert state.opened is not None
        assert state.opened.labels["configuration"] == name
        _does_what_it_says(name, state)
        assert f"lab.{name}.softmax.1: finished" in out


def _small(name: str) -> str:
    if name.startswith("pike-b"):
        return ", width = 3"
    if name.startswith("pike-o"):
        return ", migration_interval = 1" if "1isl" not in name else ""
    return ", width = 3, plain_start = false" if name == "steady" else ""


def _does_what_it_says(name: str, state: State) -> None:
    roles = {query.role for query in state.queries.values()}
    parents = {t.proposal.parent for t in state.trajectories.values()}
    shown = [t.proposal.inspirations for t in state.trajectories.values()]
    fixes = any(role.startswith("fix") or role == "again" for role in roles)
    assert state.opened is not None
    assert fixes == (state.opened.settings["fixes"] > 0), name
    assert ("ideas" in roles) == (state.opened.settings.get("ideas", 0) > 0), name
    assert ("cross" in roles) == (name in ("pike-o", "pike-o-nofix")), name
    assert any(shown) == ("cross" in roles), name
    assert (parents == {"c0"}) == (name == "best-of-n"), name
    if name.startswith("pike-o"):
        slots = {t.proposal.meta.get("slot") for t in state.trajectories.values()}
        assert len(slots) == (1 if "1isl" in name else 3), name
        assert state.dump is not None
        migrants = [entry for entry in state.dump["library"]["entries"] if entry["migrant"]]
        assert bool(migrants) == ("1isl" not in name), name


def test_a_runner_killed_at_any_moment_loses_nothing_and_begins_nothing_twice(lab: Lab) -> None:
    lab.env["FATED_SLOW_S"] = "0.05"
    both = configuration("a", more=", width = 3") + configuration("b", "steady")
    lab.write(text_of(f"[places]\nsessions = 2\n{both}", head="repeats = 2"))
    process = lab.begin("run", str(lab.folder / "lab.toml"))
    for moment in range(3):
        until(lambda m=moment, p=process: len(lab.sessions) > m or p.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_S)
        process = lab.begin("resume", "lab")
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    assert {found.name for found in lab.sessions} == {
        f"lab.{name}.softmax.{repeat}" for name in "ab" for repeat in (1, 2)
    }
    for name, lines in lab.asked().items():
        assert len(lines) == len(set(lines)) == lab.state(name).spending.queries == EQUAL, name
    runs = json.loads((lab.home / "experiments" / "lab" / "runs.json").read_text(encoding="utf-8"))
    assert {run["state"] for run in runs} == {"finished"}


def test_what_a_killed_runner_left_half_made_is_made_anew(lab: Lab) -> None:
    lab.write(text_of(configuration("a", more=", width = 3")))
    half = lab.home / "sessions" / "lab.a.softmax.1"
    (half / "task").mkdir(parents=True)
    (half / "journal.db").write_bytes(b"")
    code, _, err = lab.pike("run", str(lab.folder / "lab.toml"))
    assert code == 0, err
    assert lab.state("lab.a.softmax.1").state.value == "finished"


@pytest.mark.slow
def test_a_session_of_somebody_else_is_left_alone(lab: Lab) -> None:
    lab.write(text_of(configuration("a", more=", width = 3")))
    lab.pike("run", str(lab.folder / "lab.toml"))
    mine = lab.home / "sessions" / "lab.a.softmax.1"
    mine.rename(lab.home / "sessions" / "other.a.softmax.1")
    code, _, err = lab.pike("run", str(lab.folder / "lab.toml"), "--name", "other")
    assert code == 1
    assert "another session has its name" in err
    assert lab.state("other.a.softmax.1").spending.queries == EQUAL


def test_unfit_tasks_are_said_and_passed_over_and_the_rest_goes_on(lab: Lab) -> None:
    (lab.folder / "odd.py").write_text(
        TASK.read_text(encoding="utf-8") + "\n# unfit\n", encoding="utf-8"
    )
    (lab.folder / "no.py").write_text("print('no task')\n", encoding="utf-8")
    both = configuration("a", more=", width = 3") + configuration("b", "best-of-n")
    lab.write(text_of(f"[places]\nsessions = 1\n{both}", tasks='"starter/softmax", "odd.py"'))
    code, out, err = lab.pike("run", str(lab.folder / "lab.toml"))
    assert code == 1
    assert "lab.a.odd.1: unfit: the task does not fit" in out
    assert "lab.b.odd.1: passed over: lab.a.odd.1 found that the task does not fit" in out
    assert "4 runs: 2 finished, 1 unfit, 1 passed over" in err
    lab.write(text_of(both, tasks='"*.py"'), "all.toml")
    code, _, err = lab.pike("run", str(lab.folder / "all.toml"), "--dry-run")
    assert code == 2
    assert "all.toml, line 1: " in err
    assert "no.py" in err


@pytest.mark.slow
def test_it_pauses_resumes_and_stops_with_all_its_sessions(lab: Lab) -> None:
    lab.env["FATED_SLOW_S"] = "600"
    both = configuration("a", more=", width = 3") + configuration("b", "steady")
    lab.write(text_of(f"[places]\nsessions = 2\n{both}", head="repeats = 2"))
    runner = lab.begin("run", str(lab.folder / "lab.toml"))
    until(lambda: (lab.experiment.path / "runs.json").exists())
    until(lambda: lab.states == {"running": 2, "waiting": 2})
    assert lab.pike("resume", "lab")[0] == 1, "one runner at a time"
    code, _, err = lab.pike("pause", "lab")
    assert code == 0, err
    assert "`pike experiment resume lab`" in err
    until(lambda: lab.states == {"paused": 2, "waiting": 2})
    runner.wait(LIMIT_S)
    assert json.loads(lab.pike("show", "lab", "--json")[1])["state"] == "paused"
    lab.begin("resume", "lab")
    until(lambda: lab.states == {"running": 2, "waiting": 2})
    assert lab.pike("stop", "lab", "--now")[0] == 0
    until(lambda: lab.states == {"stopped": 2, "waiting": 2})
    lab.env["FATED_SLOW_S"] = "0"
    code, _, err = lab.pike("resume", "lab")
    assert code == 0, err
    assert lab.states == {"finished": 4}
    for name in lab.asked():
        assert lab.state(name).spending.queries == EQUAL, name
    assert lab.pike("resume", "lab", "--detach")[1] == "lab\n"
    until(lambda: "4 finished" in lab.experiment.log.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_engines_that_are_gone_with_another_host_are_replaced_when_a_person_says_so(
    lab: Lab,
) -> None:
    lab.env["FATED_SLOW_S"] = "600"
    lab.write(text_of(configuration("a")))
    runner = lab.begin("run", str(lab.folder / "lab.toml"))
    until(lambda: (lab.experiment.path / "runs.json").exists())
    until(lambda: lab.states == {"running": 1})
    (session,) = lab.sessions
    runner.kill()
    runner.wait(LIMIT_S)
    held = holder(session)
    assert held is not None
    os.killpg(held.pid, signal.SIGKILL)
    session.lock.write_text(json.dumps(asdict(held) | {"host": "gpu017"}), encoding="utf-8")
    lab.env["FATED_SLOW_S"] = "0"
    waiting = lab.begin("resume", "lab")
    assert waiting.stderr is not None
    assert "--take-over" in waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    waiting.communicate(timeout=LIMIT_S)
    code, _, err = lab.pike("resume", "lab", "--take-over")
    assert code == 0, err
    assert lab.states == {"finished": 1}


def test_what_needs_a_person_holds_the_rest_back_until_it_is_mended(lab: Lab) -> None:
    refuse = lab.folder / "refuse"
    refuse.touch()
    lab.env["FATED_REFUSE"] = str(refuse)
    both = configuration("a", more=", width = 3") + configuration("b", "steady")
    lab.write(text_of(f"[places]\nsessions = 1\n{both}"))
    code, _, err = lab.pike("run", str(lab.folder / "lab.toml"))
    assert code == 1
    assert "no other run is begun: lab.a.softmax.1 needs you: the key was refused" in err
    assert lab.states == {"needs you": 1, "waiting": 1}
    refuse.unlink()
    code, _, err = lab.pike("resume", "lab")
    assert code == 0, err


@pytest.mark.slow
def test_the_budget_of_all_is_never_exceeded(lab: Lab) -> None:
    both = configuration("a", more=", width = 3") + configuration("b", "steady")
    head = "repeats = 2"
    lab.write(text_of(f"[total]\nqueries = 30\n[places]\nsessions = 4\n{both}", head=head))
    code, out, err = lab.pike("run", str(lab.folder / "lab.toml"))
    assert code == 1
    assert out.count("too few queries are left for a whole run") == 2
    assert f"{2 * EQUAL}/30 queries" in err
    assert "4 runs: 2 finished, 2 passed over" in err


@pytest.mark.slow
def test_leaving_the_runner_leaves_the_engines_running(lab: Lab) -> None:
    lab.env["FATED_SLOW_S"] = "0.2"
    lab.write(text_of(configuration("a", more=", width = 3")))
    process = lab.begin("run", str(lab.folder / "lab.toml"))
    assert process.stdout is not None
    while "running" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "`pike experiment resume lab` goes on" in err
    until(lambda: lab.state("lab.a.softmax.1").state.value == "finished")


def test_an_experiment_is_estimated_first_and_a_dry_run_begins_nothing(lab: Lab) -> None:
    lab.write(text_of(configuration("a", more=", width = 3"), head="repeats = 3"))
    code, out, err = lab.pike("run", str(lab.folder / "lab.toml"), "--dry-run")
    assert code == 0, err
    assert "no earlier session to estimate from: at most 14 queries" in out
    assert "at most 42 queries" in err
    assert not lab.sessions
    assert lab.pike("list")[2].startswith("No experiments yet")


@pytest.mark.slow
def test_the_second_experiment_is_estimated_from_the_first(lab: Lab) -> None:
    lab.write(text_of(configuration("a", more=", width = 3"), head="repeats = 3"))
    lab.pike("run", str(lab.folder / "lab.toml"))
    told = json.loads(
        lab.pike("run", str(lab.folder / "lab.toml"), "--dry-run", "--name", "two", "--json")[1]
    )
    assert told["runs"] == 3
    assert told["outlook"][0]["hours"] is not None
