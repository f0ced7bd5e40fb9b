"""Attempts timed again, back to back, by the evaluator as `pike evaluate` does; the numbers enter no journal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions import endpoints
from sessions.journal import Reader
from sessions.model import ORIGINAL
from workbench import evaluator
from workbench.errors import CannotGoOn
from workbench.plain import first_line, inert_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.facts import Opened
    from sessions.folder import SessionFolder
    from sessions.model import State
    from workbench.config import Settings

GRACE_S = 10.0
"""What an evaluator gets to end its workers."""


class Remeasurement:
    """One run of the evaluator over some attempts of a session; another thread may stop it."""

    def __init__(self, folder: SessionFolder, found: State, ids: Sequence[str]) -> None:
        """`ids`: candidates; the original is timed beside each of them anyway, and left out."""
        self._folder = folder
        self._found = found
        self.ids = [name for name in ids if name != ORIGINAL]
        self._process: subprocess.Popen[bytes] | None = None
        self.stopped = False

    def run(self, tell: Callable[[str, str], None]) -> dict[str, dict[str, Any]]:
        """Return the verdict of each attempt; blocking for minutes.

        `tell`: told a candidate and what is done with it.

        Raises:
            CannotGoOn: the evaluator gave no verdicts, or it was stopped.
        """
        opened = self._found.opened
        if opened is None or not self.ids:
            raise CannotGoOn("there is nothing to measure again.")
        with tempfile.TemporaryDirectory(prefix="pike-again-") as made:
            files = self._write(Path(made))
            words = ["evaluate", task_of(self._folder, opened), *files, "--json", *_flags(opened)]
            verdicts = self._evaluate(words, Path(made) / "verdicts.json", tell)
        return dict(zip(self.ids, verdicts, strict=False))

    def stop(self) -> None:
        """End it, workers and all: asked first, so that it clears up, then by force."""
        self.stopped = True
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)
            force = threading.Timer(GRACE_S, _end, (process,))
            force.daemon = True
            force.start()

    def _write(self, folder: Path) -> list[str]:
        """Write the candidates where the evaluator reads them."""
        with Reader(self._folder.journal) as reader:
            sources = {
                name: reader.text(self._found.attempts[name].source_key) for name in self.ids
            }
        for name, source in sources.items():
            path = folder / f"{name}.py"
            path.write_text(source, encoding="utf-8", errors="surrogatepass")
        return [str(folder / f"{name}.py") for name in self.ids]

    def _evaluate(
        self, words: Sequence[str], out: Path, tell: Callable[[str, str], None]
    ) -> list[dict[str, Any]]:
        said = ""
        with out.open("wb") as stream:
            self._process = subprocess.Popen(
                evaluator.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            assert self._process.stderr is not None, "it was asked for"
            with self._process as process, self._process.stderr as lines:
                if self.stopped:
                    self.stop()
                for line in lines:
                    said = _progress(line, said, tell)
                process.wait()
        return self._verdicts(out, said)

    def _verdicts(self, out: Path, said: str) -> list[dict[str, Any]]:
        if self.stopped:
            raise CannotGoOn("measuring again was stopped; nothing was kept.")
        try:
            return evaluator.rows(json.loads(out.read_bytes()))
        except ValueError as error:
            raise CannotGoOn(f"measuring again gave no verdicts: {said or 'no reason'}") from error


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def elsewhere(opened: Opened | None, settings: Settings) -> str:
    """Return where a session measures, if not on this machine, where `Remeasurement` does; empty: here.

    `settings`: those of now, as the session's next engine would have them.
    """
    if opened is None:
        return ""
    if opened.executor:
        return str(inert_line(opened.executor, 80))
    tables = endpoints.read(settings.evaluators)
    names = ", ".join(one.name for one in tables)
    return str(inert_line(names, 80)) if endpoints.elsewhere(tables) else ""


def task_of(folder: SessionFolder, opened: Opened) -> str:
    """Return the session's task as the evaluator takes it: its id, or the session's own copy if that changed."""
    listed = {str(row["id"]): row.get("task_sha256") for row in evaluator.tasks()}
    if listed.get(opened.task) == opened.task_sha256:
        return opened.task
    copies = sorted(folder.task.glob("*.py"))
    if not copies:
        raise CannotGoOn(f"{folder.task} holds no task, so nothing can be measured.")
    return str(copies[0])


def _flags(opened: Opened) -> list[str]:
    return evaluator.flags(
        device="" if opened.device == "auto" else opened.device,
        precision=opened.precision,
        tolerance=opened.tolerance,
        sandbox=opened.sandbox,
        python=opened.python,
    )


def _progress(line: bytes, said: str, tell: Callable[[str, str], None]) -> str:
    """Tell one line of the evaluator; return the last words it said."""
    words = first_line(line.decode("utf-8", "replace"), 200)
    name, colon, what = words.partition(".py: ")
    if colon:
        tell(name, what)
    return words or said
