"""The plain command `evaluate`: verdicts without a session, in the order given."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_server.artifacts import new_id
from mcp_server.contract import SOURCE_LIMIT, EngineResult, Status, Verdict
from mcp_server.errors import EvaluatorError, SandboxUnavailable
from mcp_server.executor import Work
from mcp_server.local import open_local
from mcp_server.reply import headline
from mcp_server.tasks import Task, Tasks

if TYPE_CHECKING:
    from argparse import Namespace

    from mcp_server.setting import Setting


class NoCandidate(EvaluatorError):
    """The candidate's file cannot be read."""


def main(setting: Setting, arguments: Namespace) -> int:
    """Evaluate each candidate; 0 only if every verdict is `ok`.

    Raises:
        EvaluatorError: a file is missing, the task is unknown, the machine cannot evaluate.
    """
    task = Tasks(setting.home).find(arguments.task)
    sources = [read_source(Path(name)) for name in arguments.candidates]
    verdicts = anyio.run(partial(_evaluate, setting, task, sources, arguments))
    if arguments.json:
        rows = [v.model_dump(mode="json") for v in verdicts]
        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    else:
        for name, verdict in zip(arguments.candidates, verdicts, strict=True):
            sys.stdout.write(f"{name}: {_line(verdict)}\n")
    return 0 if all(v.status is Status.OK for v in verdicts) else 1


async def _evaluate(
    setting: Setting, task: Task, sources: list[str], arguments: Namespace
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    async with open_local(setting) as executor:
        await executor.check_device("auto")
        for number, source in enumerate(sources):
            name = Path(arguments.candidates[number]).name
            work = Work(
                id=new_id("job"),
                task=task,
                source=source,
                precision=arguments.precision,
                tolerance=arguments.tolerance,
                beat=1.0,
                mode="full" if arguments.full else "quick",
            )
            outcome = await executor.run(work, partial(_progress, name))
            if setting.sandbox == "strict" and outcome.verdict.code == "sandbox_failed":
                raise SandboxUnavailable(outcome.verdict.cause or "no sandbox works here")
            verdicts.append(outcome.verdict)
            talk(f"{name}: {_line(outcome.verdict)}")
    return verdicts


def _progress(name: str, stage: str, detail: str) -> None:
    talk(f"{name}: {stage} {detail}".rstrip())


def talk(line: str) -> None:
    """Say something beside the data."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _line(verdict: Verdict) -> str:
    return headline(EngineResult.model_validate(verdict.model_dump()))


def read_source(path: Path) -> str:
    """Return a candidate's source.

    Raises:
        NoCandidate: the file cannot be read, or is no candidate's.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NoCandidate(f"{path} is not UTF-8 text: give a Python file.") from None
    except OSError as error:
        raise NoCandidate(
            f"{path} cannot be read ({error.strerror}): give a file with class ModelNew."
        ) from error
    if len(text) > SOURCE_LIMIT:
        raise NoCandidate(f"{path} has more than {SOURCE_LIMIT} characters: give a smaller file.")
    return text
