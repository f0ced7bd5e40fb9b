"""A detached engine whose model and evaluator are fated: `python -m tests.workbench.fated_engine FOLDER [FATE]`.

FATE: `ends` (default), `bad-key` (the model refuses), `slow` (answers take a second each).
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sessions.folder import SessionFolder
from sessions.lock import EngineLock
from tests.fakes import FatedModel, refused
from tests.sessions.searches import Search


async def main(folder: SessionFolder, fate: str) -> None:
    """Run the search."""
    model = FatedModel(delay_s=1.0 if fate == "slow" else 0.02)
    if fate == "bad-key":
        model.fail = lambda _: refused()
    engine = await Search(folder, model=model).engine()
    await engine.run()


if __name__ == "__main__":
    found = SessionFolder(Path(sys.argv[1]))
    lock = EngineLock.take(found)
    asyncio.run(main(found, sys.argv[2] if len(sys.argv) > 2 else "ends"))
    lock.release()
