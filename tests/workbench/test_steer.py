"""`pike steer`: every act typed, answered by a running engine of this process or kept for the next one."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sessions.folder import sessions_root
from sessions.journal import Reader
from sessions.states import SessionState
from tests.fakes import SOURCE, FatedModel
from tests.sessions.searches import Search, search
from tests.sessions.test_control import engine, until
from workbench import launch
from workbench.commands import control

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.folder import SessionFolder
    from tests.workbench.commanding import Pike, Told

MINE = SOURCE.replace("class Model(", "class ModelNew(")
KEYS = {"id", "command", "act", "applied", "why", "state", "uses", "author", "text", "args"}


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> Search:
    """A search whose engine runs in this process, once `steering` is entered."""
    settings = {"ideas": 0, "width": 4, "places": 4, "queries": 20, "top": 1}
    made = search(sessions_root(), name="s", model=FatedModel(fates=("ok",)), settings=settings)

    def alive(_folder: SessionFolder) -> bool:
        return True

    monkeypatch.setattr(launch, "is_alive", alive)
    return made


async def typed(pike: Pike, *words: str) -> Told:
    """Carry out a command while the engine goes on."""
    return await asyncio.to_thread(pike, "steer", "s", *words)


async def test_every_act_is_answered_with_its_id_and_its_standing(
    pike: Pike, paused: Search, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    async with engine(paused):
        await until(paused, lambda s: sum(bool(a.commit) for a in s.attempts.values()) >= 4)
        await asyncio.to_thread(pike, "pause", "s")
        await until(paused, lambda s: s.state is SessionState.PAUSED)
        first, second, *_ = paused.state.attempts
        lines: list[tuple[tuple[str, ...], str]] = [
            (("pin", first), "waiting"),
            (("ban", second), "in force"),
            (("boost", "001", "3"), "waiting"),
            (("fork", "c0", "in two passes", "--count", "2"), "waiting"),
            (("submit", str(tmp_path / "mine.py"), "--parent", first, "--fix"), "waiting"),
            (("guide", "no atomics"), "waiting"),
            (("edit", "s6", "no atomics at all"), "spent"),
            (("budget", "--queries", "30"), "in force"),
            (("withdraw", "s6"), "spent"),
            (("ban", second, "--off"), "spent"),
            (("boost", "1", "--off"), "spent"),
            (("pin", first, "--off"), "spent"),
        ]
        for words, standing in lines:
            told = await typed(pike, *words, "--json")
            assert told.code == 0, told.out
            assert (told.json["applied"], told.json["state"]) == (True, standing), words
            assert set(told.json) == KEYS
        listed = (await typed(pike, "list", "--json")).json
        assert [row["state"] for row in listed] == [
            *("withdrawn", "withdrawn", "withdrawn", "waiting", "waiting", "withdrawn"),
            *("spent", "in force", "spent", "spent", "spent", "spent"),
        ]
        shown = (await typed(pike, "list")).out
        assert "c0 ×2 as h1, h2: in two passes" in shown
        assert f"mine.py from {first} as h3, may be fixed" in shown
        assert "no atomics at all" in shown
        whole = (await asyncio.to_thread(pike, "show", "s")).out
        assert "s6 guide, withdrawn: no atomics at all" in whole.splitlines()
        kept = (await asyncio.to_thread(pike, "show", "s", "--json")).json["steers"]
        assert [row["text"] for row in kept if row["id"] == "s6"] == ["no atomics at all"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("pin", "c99"), "there is no candidate 'c99'"),
        (("model", "improve", "nobody"), "cannot be used"),
        (("submit", "-"), "the file is not Python"),
        (("withdraw", "s9"), "there is no steer 's9'"),
    ],
)
async def test_a_refusal_ends_with_one_and_says_why(
    pike: Pike,
    paused: Search,
    words: tuple[str, ...],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"def broken(:\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    async with engine(paused):
        told = await typed(pike, *words, "--json")
        assert (told.code, told.json["applied"], told.json["state"]) == (1, False, "refused")
        assert why in told.json["why"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("boost", "c1"), "needs its WEIGHT"),
        (("boost", "session", "2"), "a lineage (003) or a candidate"),
        (("boost", "c1", "2", "--off"), "or --off"),
        (("boost", "c1", "nan"), "the weight is nan, but must be above 0"),
        (("boost", "c1", "1e400"), "the weight is inf, but must be above 0"),
        (("boost", "c1", "0"), "the weight is 0, but must be above 0"),
        (("boost", "c1", "101"), "must be above 0, at most 100"),
        (("fork", "c0", "--count", "0"), "--count is 0, but must be 1 to 100"),
        (("--json", "pin", "c1"), "--json stands before `pike steer S pin`"),
        (("budget",), "needs --queries"),
        (("submit", "/nowhere.py"), "No such file"),
        (("model", "boss", "offline"), "invalid choice"),
        (("fork", "c0", "--cuont", "2"), "--count"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage_and_never_sent(
    pike: Pike, words: tuple[str, ...], why: str
) -> None:
    made = search(sessions_root(), name="s")
    told = pike("steer", "s", *words)
    assert told.code == 2
    assert why in told.err
    with Reader(made.folder.journal) as reader:
        assert reader.waiting_commands() == []


def test_a_file_that_is_no_text_is_refused_by_its_name(pike: Pike, tmp_path: Path) -> None:
    search(sessions_root(), name="s")
    (tmp_path / "kernel.so").write_bytes(b"\x7fELF\xff\xfe")
    told = pike("steer", "s", "submit", str(tmp_path / "kernel.so"))
    assert told.code == 1
    assert "not UTF-8 text" in told.err


def test_without_an_engine_a_steer_is_kept_listed_and_judged_as_things_stand(pike: Pike) -> None:
    search(sessions_root(), name="s")
    told = pike("steer", "s", "pin", "c7", "--json")
    assert (told.code, told.json["applied"], told.json["state"]) == (0, None, "kept")
    assert set(told.json) == KEYS
    assert "it crashed. `pike resume s` starts a new one" in told.json["why"]
    assert "will be refused: there is no candidate 'c7'" in told.json["why"]
    assert [row["state"] for row in pike("steer", "s", "list", "--json").json] == ["kept"]
    assert "no engine took it up yet" in pike("steer", "s", "list").out


async def test_a_finished_search_says_what_a_submission_needs_and_may_then_be_resumed(
    pike: Pike, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = search(sessions_root(), name="s", model=FatedModel(fates=("ok",)))
    await made.run()
    assert pike("resume", "s").code == 1
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    told = await typed(pike, "submit", str(tmp_path / "mine.py"))
    assert told.code == 0
    assert "it is finished. `pike resume s`" in told.err
    started: list[Any] = []

    def start(*given: Any, **_: Any) -> int:
        started.append(given)
        return 1

    monkeypatch.setattr(control.renewing, "start", start)
    assert (await asyncio.to_thread(pike, "resume", "s")).code == 0
    assert started
    await made.run()
    assert made.state.attempts[made.state.trajectories["h1"].attempts[0]].kind == "correct"
