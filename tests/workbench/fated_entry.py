"""A detached engine with fated parts, in the place of `workbench.engine_entry`: see `fated_pike`.

The model answers by fate, under whatever names the session knows; a task whose text holds `# unfit` is unfit.
`FATED_SLOW_S` slows each answer; `FATED_REFUSE` names a file: while it exists, the key is refused.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sessions.experiments.sharing import Shares
from sessions.folder import SessionFolder
from sessions.lock import EngineLock
from tests.fakes import FatedEvaluator, FatedModel, refused
from tests.sessions.searches import Search

LOG = "asked.log"
"""In the session's folder: a line per answer that was paid for."""


async def main(folder: SessionFolder, ready: int) -> None:
    """Run the search."""
    found = Search(folder)
    opened = found.state.opened
    assert opened is not None
    model = FatedModel(
        seed=opened.seed,
        delay_s=float(os.environ.get("FATED_SLOW_S", "0.002")),
        log=folder.path / LOG,
        price_usd=0.01,
    )
    refuse = os.environ.get("FATED_REFUSE", "")
    model.fail = lambda _: refused() if refuse and Path(refuse).exists() else None
    text = next(folder.task.iterdir()).read_text(encoding="utf-8")
    unfit = "nondeterministic" if "# unfit" in text else ""
    shares = Shares.of(folder, opened)
    names = {name for entry in opened.models.values() for name in entry.split(",")}
    models = {name: shares.model(replace(model, name=name)) for name in names}
    evaluator = shares.evaluator(FatedEvaluator(unfit=unfit, delay_s=0.002))
    engine = await found.engine(models=models, evaluator=evaluator)
    with suppress(OSError):  # whoever started it may have been killed meanwhile
        os.write(ready, b"1")
    os.close(ready)
    await engine.run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ready", type=int)
    parser.add_argument("--take-over", action="store_true")
    typed, _ = parser.parse_known_args()
    session = SessionFolder(Path(typed.folder))
    lock = EngineLock.take(session, take_over=typed.take_over)
    asyncio.run(main(session, typed.ready))
    lock.release()
