"""`pike run` with a scripted model and evaluator: `python -m tests.terminal.scripted_run NAME`.

The session, the detached engine, its journal and its git repository are real, and so is the screen that opens; only
answers and verdicts are known beforehand, so that no torch is needed and a search is quick.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from sessions.folder import SessionFolder
from sessions.lock import EngineLock, Presence, presence
from sessions.start import create_session
from tests.fakes import FatedEvaluator, FatedModel
from tests.sessions.searches import Search, request
from workbench import screen
from workbench.printing import Printer

QUERIES = 2_000
"""More than a test can wait for: the search ends because it is stopped."""
ANSWER_S, VERDICT_S = 0.7, 0.3
START_LIMIT_S = 60.0


def main(name: str) -> int:
    """Begin a session as `pike run` does, and open its screen."""
    settings = {"queries": QUERIES, "width": 8, "ideas": 5}
    folder = create_session(request(name=name, settings=settings))
    with folder.log.open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-m", "tests.terminal.scripted_run", "--engine", str(folder.path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _await_engine(folder)
    return screen.open_on(folder, Printer(), instead="")


def _await_engine(folder: SessionFolder) -> None:
    end = time.monotonic() + START_LIMIT_S
    while presence(folder) is not Presence.ALIVE:
        if time.monotonic() > end:
            raise TimeoutError(f"no engine: {folder.log.read_text(encoding='utf-8')}")
        time.sleep(0.05)


async def _engine(folder: SessionFolder) -> None:
    model, evaluator = FatedModel(delay_s=ANSWER_S), FatedEvaluator(delay_s=VERDICT_S)
    engine = await Search(folder, model=model, evaluator=evaluator).engine()
    await engine.run()


if __name__ == "__main__":
    if sys.argv[1] == "--engine":
        found = SessionFolder(Path(sys.argv[2]))
        lock = EngineLock.take(found)
        asyncio.run(_engine(found))
        lock.release()
    else:
        sys.exit(main(sys.argv[1]))
