from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions.facts import Body, QueryDone, QuerySent
from sessions.journal import Journal, JournalError, key_of
from sessions.models.port import Finish, ReplayMiss, Usage
from sessions.models.replay import ReplayModel
from tests.sessions.models.asking import ignore, request

if TYPE_CHECKING:
    from pathlib import Path


def query(name: str, prompt: str, sample: int, text: str, finish: str = "stop") -> list[Body]:
    sent = QuerySent(name, "p1", 0, "start", "COA-1", "opus", key_of(prompt), sample, None)
    return [sent, QueryDone(name, key_of(text), finish, 10, 2, 5, 0.5, 1.0)]


@pytest.fixture
async def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    opened = await Journal.open(path, wal=True)
    facts = [
        *query("q1", "make it fast", 0, "first"),
        *query("q2", "make it fast", 1, "second", "length"),
        *query("q3", "other", 0, "third")[:1],
    ]
    await opened.record(1.0, facts, texts=["first", "second"])
    await opened.close()
    return path


async def test_a_past_answer_is_given_again_and_not_paid(journal: Path) -> None:
    model = ReplayModel("softmax-1", journal)
    seen: list[str] = []
    said = await model.answer(request(text="make it fast"), seen.append, ignore)
    assert (said.text, said.finish, said.cost_usd) == ("first", Finish.STOP, 0.0)
    assert (said.usage, said.model, seen) == (Usage(10, 2, 0, 5), "opus", ["first"])
    second = await model.answer(request(text="make it fast", sample=1), ignore, ignore)
    assert (second.text, second.finish) == ("second", Finish.LENGTH)


@pytest.mark.parametrize(("text", "sample"), [("new", 0), ("make it fast", 2), ("other", 0)])
async def test_a_question_never_answered_is_a_miss(journal: Path, text: str, sample: int) -> None:
    with pytest.raises(ReplayMiss, match="softmax-1 holds no answer"):
        await ReplayModel("softmax-1", journal).answer(
            request(text=text, sample=sample), ignore, ignore
        )


async def test_a_session_without_a_journal_says_so(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no journal"):
        await ReplayModel("gone", tmp_path / "journal.db").answer(request(), ignore, ignore)
