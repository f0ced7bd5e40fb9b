"""A person's own strategy: the one in the manual is run and resumed, others are refused in words."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions import own_strategy
from sessions.start import create_session
from sessions.states import SessionState
from strategies.errors import OwnStrategyRefused, SettingRefused
from tests.fakes import FatedModel
from tests.sessions.searches import Search, request
from tests.sessions.test_control import ask, engine, until

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "docs" / "own-strategy.md"


def shown() -> str:
    """Return the strategy that the page shows."""
    found = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(1)


def written(folder: Path, source: str = "", name: str = "mine.py") -> str:
    path = folder / name
    path.write_text(source or shown(), encoding="utf-8")
    return f"{path}:Mine"


def begun(folder: Path, named: str, **settings: Any) -> Search:
    own = own_strategy.load(named)
    given = {"queries": 14, "places": 2, **settings}
    wanted = replace(
        request(settings=given),
        strategy=own.entry.name,
        strategy_file=own.file,
        strategy_sha256=own.sha256,
        settings=own.entry.complete(given),
        places=2,
    )
    model = FatedModel(fates=("ok", "ok", "compile_error"))
    return Search(create_session(wanted, folder), model)


def test_the_strategy_in_the_manual_is_shorter_than_forty_lines() -> None:
    assert len([line for line in shown().splitlines() if line.strip()]) < 40


async def test_it_searches_as_one_of_ours(tmp_path: Path) -> None:
    found = begun(tmp_path, written(tmp_path), top=2)
    assert await found.run() is SessionState.FINISHED
    state = found.state
    assert state.spending.queries == 14
    assert state.opened is not None
    assert state.opened.strategy == "mine.py:Mine"
    parents = {t.proposal.parent for t in state.trajectories.values()}
    assert len(parents) > 2
    assert all(a.commit for a in state.attempts.values())


async def test_it_is_stopped_steered_and_resumed_as_one_of_ours(tmp_path: Path) -> None:
    found = begun(tmp_path, written(tmp_path))
    async with engine(found) as task:
        await until(found, lambda s: sum(bool(t.works) for t in s.trajectories.values()) >= 2)
        await ask(found, "stop")
        assert await task is SessionState.STOPPED
    before = found.facts
    banned = next(t.works for t in found.state.trajectories.values() if t.works)
    await ask(found, "ban", candidate=banned)
    await ask(found, "resume")
    assert await found.run() is SessionState.FINISHED
    after = found.facts
    assert after[: len(before)] == before
    ban = next(x.seq for x in after if x.body.KIND == "steer")
    late = [t.proposal for t in found.state.trajectories.values() if t.seq > ban]
    assert late
    assert banned not in {proposal.parent for proposal in late}
    ids = [t.proposal.id for t in found.state.trajectories.values()]
    assert ids == [f"p{n + 1}" for n in range(len(ids))]


def test_its_settings_are_read_described_and_refused_as_ours(tmp_path: Path) -> None:
    named = written(tmp_path)
    entry = own_strategy.load(named).entry
    described = {d.name: d.default for d in entry.describe()}
    assert described["top"] == 3
    assert described["plain_start"] is False
    assert entry.says == "the three fastest, drawn anew each time"
    with pytest.raises(
        SettingRefused, match=r"mine[.]py:Mine has no setting 'tap'; did you mean 'top'"
    ):
        entry.create({"tap": 2}, 0)


def test_a_file_that_changed_or_went_is_refused_by_name(tmp_path: Path) -> None:
    named = written(tmp_path)
    own = own_strategy.load(named)
    assert own_strategy.load(named, own.sha256) == own
    written(tmp_path, shown() + "\n")
    with pytest.raises(OwnStrategyRefused, match=r"mine[.]py changed since this session began"):
        own_strategy.load(named, own.sha256)
    (tmp_path / "mine.py").unlink()
    with pytest.raises(OwnStrategyRefused, match=r"mine[.]py cannot be read: No such file"):
        own_strategy.load(named, own.sha256)


BROKEN: list[tuple[Callable[[str], str], str]] = [
    (lambda s: s.replace("class Mine:", "class Yours:"), "the file has no class Mine"),
    (lambda s: s + "\n1 / 0\n", "cannot be run: ZeroDivisionError"),
    (lambda s: s + "\nraise SystemExit(3)\n", "cannot be run: SystemExit"),
    (lambda s: s.replace("def propose", "def suggest"), "the method propose is missing"),
    (lambda s: s.replace("def __init__(self, settings, seed)", "def __init__(self)"), "made from"),
    (lambda s: s.replace(" = settings, settings.top, seed", " = 1, 1, 1"), "as self.settings"),
    (
        lambda s: s.replace('"mine", 1, False', '"mine", "1", False'),
        "version must be there, as int",
    ),
    (lambda s: s.replace('"made": self.made', '"made": {1}'), "through JSON fails: TypeError"),
    (lambda s: s.replace("(BasicSettings)", ""), "lacks queries, places, fixes, fix_memory"),
    (lambda s: re.sub(r"top: int = number\(.*\)", "top: int = 3", s), "must declare top by number"),
    (lambda s: "def (", "cannot be run: SyntaxError"),
]


@pytest.mark.parametrize(("harm", "says"), BROKEN)
def test_what_is_no_strategy_is_refused_in_a_sentence(
    tmp_path: Path, harm: Callable[[str], str], says: str
) -> None:
    with pytest.raises(OwnStrategyRefused, match=re.escape(says)):
        own_strategy.load(written(tmp_path, harm(shown())))


@pytest.mark.parametrize("name", ["mine.py", "mine.py:", "mine.py:not a class"])
def test_a_name_without_a_class_is_refused(name: str) -> None:
    with pytest.raises(OwnStrategyRefused, match="after the file comes a class, as in mine"):
        own_strategy.load(name)


MISTAKEN = [
    ('f"p{self.made}", Role', '"p1", Role', "its proposal 'p1' must be a new name"),
    ('f"p{self.made}", Role', 'f"h{self.made}", Role', "its proposal 'h1' must be a new name"),
    ("Role.IMPROVE, ", 'Role.IMPROVE, "c99" or ', "its proposal p1 names 'c99', which is no"),
    ("range(free)", "range(15)", "it proposed 15 queries where 14 are left"),
    ("Role.IMPROVE", "Role.PLAIN", "its proposal p1 has the role plain"),
    ("for _ in range(free)", "for _ in view", "TypeError"),
    ("[self.one(view)", '["p1"', "it proposed 'p1', which is no Proposal"),
    ("Role.IMPROVE", "None", "its proposal p1 has no role None"),
    ("Role.IMPROVE", "'zap'", "its proposal p1 has no role 'zap'"),
    ('f"p{self.made}", Role', "self.made, Role", "its proposal 1 holds 1 where text belongs"),
    ("seats[int(draw * len(seats))]", "'c0', (), 5", "'p1' holds 5 where text belongs"),
    (
        "seats[int(draw * len(seats))]",
        r"'c0', (), '\ud800'",
        r"'p1' holds '\ud800' where text belongs",
    ),
    ("        free = ", "        raise SystemExit(3)\n        free = ", "the end of the program"),
    ('return {"seed": ', 'return self.made or {"seed": ', "TypeError"),
]


@pytest.mark.parametrize(("there", "instead", "says"), MISTAKEN)
async def test_a_mistaken_proposal_pauses_the_search_and_says_which(
    tmp_path: Path, there: str, instead: str, says: str
) -> None:
    source = shown().replace(there, instead)
    assert source != shown()
    found = begun(tmp_path, written(tmp_path, source))
    async with engine(found):
        state = await until(found, lambda s: s.state is SessionState.PAUSED)
    assert says in state.cause
    assert state.cause.startswith("the strategy failed: ")
    assert found.state.state is SessionState.PAUSED, "its journal can be read again"


def test_an_engine_that_refuses_a_changed_file_says_so_and_ends(tmp_path: Path) -> None:
    found = begun(tmp_path, written(tmp_path))
    written(tmp_path, shown() + "\n")
    command = [sys.executable, "-m", "workbench.engine_entry", str(found.folder.path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1
    assert "mine.py changed since this session began" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "source",
    [
        "while True:\n    pass\n",
        "import time\ntime.sleep(30)\n",
        "class Mine:\n    def __init__(self, settings, seed):\n        while True:\n            pass\n",
    ],
    ids=["loops", "sleeps", "loops when it is made"],
)
def test_one_that_never_ends_is_given_up_in_words(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    monkeypatch.setattr(own_strategy, "LIMIT_S", 0.3)
    with pytest.raises(OwnStrategyRefused, match=r"mine\.py does not come to an end: 0\.3 s"):
        own_strategy.load(written(tmp_path, source))
    left = set(threading.enumerate()) - before
    for thread in left if "sleep" not in source else ():  # who sleeps holds no processor
        thread.join(20)
        assert not thread.is_alive()
