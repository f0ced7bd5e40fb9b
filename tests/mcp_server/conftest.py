"""Small judge and worker programs in the evaluator's own processes: everything but torch is real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcp_server.executor import Outcome, Work
from mcp_server.pool import Programs
from mcp_server.sandbox import PACKAGE
from mcp_server.setting import Setting
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from mcp_server.executor import Report
    from mcp_server.local import LocalExecutor

PROGRAMS = Path(__file__).parent / "programs"
SMALL = Programs(
    judge=str(PROGRAMS / "small_judge.py"),
    worker=str(PROGRAMS / "small_worker.py"),
    judge_reads=(str(PROGRAMS / "small_judge.py"), str(PACKAGE / "channel.py")),
)
TASK = Task("starter/small", "A task no process reads", "x = 1\n", Path("small.py"))


def bwrap_works() -> bool:
    """Return whether this machine lets bubblewrap make its namespaces."""
    if shutil.which("bwrap") is None:
        return False
    argv = ["bwrap", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


needs_bwrap = pytest.mark.skipif(not bwrap_works(), reason="bubblewrap does not work here")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def setting(home: Path) -> Setting:
    leases = home / "leases"
    leases.mkdir(parents=True)
    return Setting(home, sandbox="process", device="cpu", programs=SMALL, lease_folder=leases)


def landlock_works() -> bool:
    """Return whether this machine lets Landlock and namespaces fence a program in."""
    fence = {"read": ["/"], "list": [], "write": [], "nodes": []}
    words = [str(PACKAGE / "fence.py"), str(os.getpid()), json.dumps(fence), sys.executable]
    argv = [sys.executable, "-I", "-S", "-B", *words, "-I", "-S", "-c", ""]
    return subprocess.run(argv, capture_output=True, check=False, timeout=60).returncode == 0


needs_landlock = pytest.mark.skipif(not landlock_works(), reason="Landlock does not work here")
FENCES = [
    pytest.param("bwrap", marks=needs_bwrap),
    pytest.param("landlock", marks=needs_landlock),
]


@pytest.fixture(params=FENCES)
def fenced(setting: Setting, request: pytest.FixtureRequest) -> Setting:
    """Each level that fences a candidate in."""
    return replace(setting, sandbox=request.param)


@pytest.fixture
def walled(setting: Setting) -> Setting:
    """The level that hides even what it does not let through."""
    return replace(setting, sandbox="bwrap")


def candidate(body: str) -> str:
    """Return a candidate's text whose execution sets `said`."""
    return f"{body}\n\nclass ModelNew: pass\n"


@dataclass
class Told:
    """The stages that a job reported."""

    stages: list[str]

    def __call__(self, stage: str, _detail: str) -> None:
        self.stages.append(stage)


def ignore(_stage: str, _detail: str) -> None:
    """Report nothing."""


async def run(executor: LocalExecutor, body: str, report: Report = ignore) -> Outcome:
    """Evaluate a candidate's text."""
    return await executor.run(Work("job_0123456789", TASK, candidate(body)), report)


def python() -> str:
    """Return the interpreter of the tests."""
    return sys.executable
