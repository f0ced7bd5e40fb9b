"""Takes the pictures of the manual: `python docs/pictures/make.py [NAME…]` writes the SVG files beside this script.

The sessions in them are made up (`tests/tui/journals.py`), and so is the machine of the form; the screens are the real
ones, driven by the keys a person would press.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
os.environ["COLORTERM"] = "truecolor"
os.environ.pop("NO_COLOR", None)

from textual.pilot import Pilot  # noqa: E402 - the path first

from sessions import facts as f  # noqa: E402
from sessions.folder import SessionFolder  # noqa: E402
from sessions.lock import EngineLock  # noqa: E402
from tests.tui import journals  # noqa: E402
from tests.tui.forms import still  # noqa: E402
from tests.tui.looking import press, settled, until  # noqa: E402
from workbench.app import PikeApp  # noqa: E402
from workbench.screens.compare import CompareScreen  # noqa: E402
from workbench.screens.new_session import NewSessionScreen  # noqa: E402

WORDS = "Shared memory is the limit on c36. Try two-stage pipelining instead."
Act = Callable[[Pilot[Any], SessionFolder], Awaitable[None]]


async def _live(pilot: Pilot[Any], _: SessionFolder) -> None:
    await press(pilot, "j", "j", "j")


async def _narrow(pilot: Pilot[Any], _: SessionFolder) -> None:
    await press(pilot, "j")


async def _steer(pilot: Pilot[Any], _: SessionFolder) -> None:
    await press(pilot, "j", "s", *WORDS)


async def _compare(pilot: Pilot[Any], _: SessionFolder) -> None:
    """Mark the best and the one before it that is right, and compare them."""
    table: Any = pilot.app.screen.query_one("#attempts")
    best = next(place for place, row in enumerate(table.rows) if row.best)
    older = next(row.key for row in table.rows[best + 1 :] if row.word == "correct" and row.ratio)
    for key in (older, table.rows[best].key):
        table.select(key)
        await press(pilot, "space")
    await press(pilot, "c")
    screen = pilot.app.screen
    assert isinstance(screen, CompareScreen)
    await until(pilot, lambda: screen.is_shown)
    await settled(pilot)


async def _form(pilot: Pilot[Any], folder: SessionFolder) -> None:
    screen = NewSessionScreen(folder.path.parent, looker=still())
    await pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.field("task").options)
    await settled(pilot)


async def _list(pilot: Pilot[Any], _: SessionFolder) -> None:
    await settled(pilot)


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: a size, and what is done before it is taken."""

    size: tuple[int, int]
    act: Act
    on_list: bool = False


PICTURES = {
    "live": Picture((160, 44), _live),
    "narrow": Picture((80, 24), _narrow),
    "steer": Picture((110, 34), _steer),
    "compare": Picture((150, 36), _compare),
    "new-session": Picture((100, 30), _form, on_list=True),
    "sessions": Picture((100, 16), _list, on_list=True),
}


async def take(folder: SessionFolder, at: float, name: str) -> None:
    """Take one picture."""
    picture = PICTURES[name]
    opened = None if picture.on_list else folder
    under = folder.path.parent
    app = PikeApp(opened, under=under, now=lambda: at + 4, wanted_theme="dark")
    async with app.run_test(size=picture.size) as pilot:
        await settled(pilot)
        await picture.act(pilot, folder)
        app.title = "pike" if picture.on_list else f"pike attach {folder.name}"
        (HERE / f"{name}.svg").write_text(app.export_screenshot(), encoding="utf-8")


def record(sessions: Path) -> tuple[SessionFolder, float]:
    """Record the sessions that are seen; return the one that runs, and the time of its last fact."""
    made = journals.build(sessions / "softmax-h200", 44, hostile=False)
    refused = f.Paused("the key in OPENAI_API_KEY was refused", "bad_key")
    _ended(sessions / "conv-fuse", 14, "starter/conv-bn-relu", refused)
    _ended(sessions / "attention-2", 20, "starter/attention", f.Paused("", "asked", "ann"))
    over = f.Finished("all 300 queries are used", "queries")
    _ended(sessions / "scan", 30, "starter/scan", over)
    return SessionFolder(sessions / "softmax-h200"), made.at


def _ended(folder: Path, attempts: int, task: str, end: f.Body) -> None:
    """Record a session in which nothing is in flight any more."""
    made = journals.script(attempts, hostile=False)
    first, *_ = made.steps[0][1]
    assert isinstance(first, f.Opened)
    opened = replace(first, session=folder.name, task=task)
    last = made.queries
    gone = [f.QueryLost(f"q{last - 1}"), f.QueryLost(f"q{last}")]
    judged = f.VerdictReached(f"c{last - 2}", "correct", 0.3, journals.verdict_of(0.99, "fp32"))
    folder.mkdir(parents=True)
    made.steps[0] = (made.steps[0][0], [opened], made.steps[0][2])
    made.add([judged, *gone, end])
    asyncio.run(journals.write(folder / "journal.db", made))


def main() -> None:
    """Record sessions, then look at them."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"PIKE_HOME": home, "XDG_CONFIG_HOME": home}
        folder, at = record(Path(home) / "sessions")
        lock = EngineLock.take(folder)
        for name in sys.argv[1:] or PICTURES:
            asyncio.run(take(folder, at, name))
        lock.release()


if __name__ == "__main__":
    main()
