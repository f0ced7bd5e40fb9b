"""Entry of the detached engine: `python -m workbench.engine_entry FOLDER`, streams on the session's log.

It takes the session's lock before anything else is imported, and says `ready` on a pipe when all its parts are there.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.folder import SessionFolder
from sessions.lock import EngineLock
from workbench.errors import DONE, FAILED, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

log = logging.getLogger("pike.engine")

TERMINATED = 128 + signal.SIGTERM


def main(argv: Sequence[str] | None = None) -> int:
    """Run the engine of a session until it is finished or stopped; return the exit code."""
    typed = _parser().parse_args(argv)
    if typed.orphan:
        _leave_family()
    folder = SessionFolder(Path(typed.folder))
    _log_in_utc()
    try:
        lock = EngineLock.take(folder, take_over=typed.take_over)
    except Exception as error:  # noqa: BLE001 - the boundary of a process
        return _failed(error)
    try:
        asyncio.run(_run(folder, typed.ready, step=typed.step))
    except asyncio.CancelledError:
        log.warning("the engine of %s was told to end at once", folder.name)
        return TERMINATED
    except Exception as error:  # noqa: BLE001 - the boundary of a process
        return _failed(error)
    lock.release()
    return DONE


def _leave_family() -> None:
    """Go on in a child whose parent is gone at once, in a session of its own; no thread was started yet."""
    if os.fork():
        os._exit(DONE)
    os.setsid()


async def _run(folder: SessionFolder, ready: int | None, *, step: bool) -> None:
    from workbench.compose import open_engine

    task = asyncio.current_task()
    assert task is not None
    # SIGTERM ends the engine as a crash would, only sooner: the next one takes up from the journal.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    log.info("the engine of %s begins", folder.name)
    opened = await open_engine(folder, step=step)
    if step:  # its lock must be free for the next host, so it leaves in order
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, opened.engine.cut_short)
    _say_ready(ready)
    state = await opened.engine.run()
    await opened.notices.told()
    log.info("the engine of %s ends: %s", folder.name, state.value)


def _say_ready(descriptor: int | None) -> None:
    """Tell whoever started this engine, who may be gone."""
    if descriptor is not None:
        with suppress(OSError):
            os.write(descriptor, b"1")
        os.close(descriptor)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workbench.engine_entry", description=__doc__)
    parser.add_argument("folder", help="the session's folder")
    parser.add_argument("--ready", type=int, metavar="FD", help="where to say that it has begun")
    parser.add_argument("--take-over", action="store_true", help="the engine elsewhere is gone")
    parser.add_argument("--orphan", action="store_true", help="descend from no process")
    parser.add_argument("--step", action="store_true", help="end where only others can go on")
    return parser


def _log_in_utc() -> None:
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(
        level=logging.INFO,
        stream=sys.stderr,
        format="%(asctime)sZ %(levelname)s %(name)s: %(message)s",
    )
    for chatty in ("httpx", "httpx2", "mcp", "google_genai", "openai", "anthropic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _failed(error: Exception) -> int:
    """Log what ended the engine; the last line is for whoever started it."""
    from workbench.refusals import told

    known = told(error) if not isinstance(error, WorkbenchError) else None
    if known is None and not isinstance(error, WorkbenchError):
        log.error("the engine failed", exc_info=error)
    words = known.text if known is not None else f"{error}" or type(error).__name__
    sys.stderr.write(f"{words}\n")
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
