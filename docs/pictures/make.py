"""Takes the pictures of the manual: `python docs/pictures/make.py` writes the SVG files beside this script.

The session in them is made up (`tests/tui/journals.py`); the screen is the real one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
os.environ["COLORTERM"] = "truecolor"

from sessions.folder import SessionFolder  # noqa: E402 - the path first
from sessions.lock import EngineLock  # noqa: E402
from tests.tui import journals  # noqa: E402
from tests.tui.looking import press, settled  # noqa: E402
from workbench.app import PikeApp  # noqa: E402

PICTURES = {
    "live.svg": ((160, 44), ("j", "j", "j")),
    "narrow.svg": ((80, 24), ("j",)),
}


async def take(folder: SessionFolder, at: float, name: str) -> None:
    """Take one picture."""
    size, keys = PICTURES[name]
    app = PikeApp(folder, now=lambda: at + 4, wanted_theme="dark")
    app.title = f"pike attach {folder.name}"
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await press(pilot, *keys)
        (HERE / name).write_text(app.export_screenshot(), encoding="utf-8")


def main() -> None:
    """Record a session, then look at it."""
    with tempfile.TemporaryDirectory() as home:
        folder = SessionFolder(Path(home) / "sessions/gpt-block")
        made = journals.build(folder.path, 44, hostile=False)
        lock = EngineLock.take(folder)
        for name in PICTURES:
            asyncio.run(take(folder, made.at, name))
        lock.release()


if __name__ == "__main__":
    main()
