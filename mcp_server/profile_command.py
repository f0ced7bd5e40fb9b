"""The plain command `profile`: where the time of a task, or of a candidate, goes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server import profile
from mcp_server.artifacts import new_id
from mcp_server.evaluate_command import read_source, talk
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.tasks import Tasks

if TYPE_CHECKING:
    from argparse import Namespace

    from mcp_server.executor import Outcome, WantedStage
    from mcp_server.setting import Setting

AS_CANDIDATE = "\n\n\nclass ModelNew(Model):\n    pass\n"
"""Makes the original a candidate of its own."""
STAGES: tuple[WantedStage, ...] = ("build", "correctness", "timing", "profile")
BASELINES_S = 900.0
"""For the baselines that take minutes; they are measured once."""


def main(setting: Setting, arguments: Namespace) -> int:
    """Print the profile as JSON or in lines; 1 where there is none.

    Raises:
        EvaluatorError: a file is missing, the task is unknown, the machine cannot evaluate.
    """
    task = Tasks(setting.home).find(arguments.task)
    given = arguments.candidate
    source = read_source(Path(given)) if given else task.source + AS_CANDIDATE
    work = Work(
        new_id("job"),
        task,
        source,
        precision=arguments.precision,
        mode="full" if arguments.full else "quick",
        stages=STAGES,
    )
    limits = replace(setting.stage_limits, qualify=BASELINES_S)
    outcome = anyio.run(partial(_profile, replace(setting, stage_limits=limits), work))
    shown = profile.whole(outcome)
    if arguments.json:
        sys.stdout.write(json.dumps(shown, indent=1) + "\n")
    else:
        verdict = profile.described(outcome)
        sys.stdout.writelines(f"{line}\n" for line in (*verdict.summary, *verdict.hottest))
    if shown["profile"] is None:
        verdict = outcome.verdict
        talk(f"no profile: {verdict.status}/{verdict.code}: {verdict.cause}")
    return 0 if shown["profile"] is not None else 1


async def _profile(setting: Setting, work: Work) -> Outcome:
    async with open_local(setting) as executor:
        return await executor.run(work, lambda stage, detail: talk(f"{stage} {detail}".rstrip()))
