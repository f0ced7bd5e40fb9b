"""The journal: all or nothing, texts once, answers found again, commands taken once."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from sessions.commands import send, user
from sessions.errors import CommandRefused
from sessions.journal import Journal, JournalUnreadable, NewReply, Reader, key_of
from tests.sessions.searches import search
from tests.sessions.states import done, opened, proposed, sent

if TYPE_CHECKING:
    from pathlib import Path

REPLY = NewReply("fated", "hash", 0, "the answer", "stop", {"cost_usd": 0.1})


async def test_facts_are_numbered_without_gaps_and_read_back(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.db", wal=True)
    await journal.record(1.0, [opened(), proposed("p1")])
    await journal.record(2.0, [sent(1, "p1")])
    assert [fact.seq for fact in await journal.facts()] == [1, 2, 3]
    await journal.close()
    again = await Journal.open(tmp_path / "journal.db", wal=True)
    [fact] = await again.record(3.0, [done(1)])
    assert fact.seq == 4
    await again.close()
    with Reader(tmp_path / "journal.db") as reader:
        assert [x.body.KIND for x in reader.facts(2)] == ["query_sent", "query_done"]


async def test_an_answer_and_its_fact_are_stored_together_or_not_at_all(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.db", wal=True)
    await journal.record(1.0, [opened()])
    broken = f.Proposed([{"id": object()}], {})
    with pytest.raises(TypeError):
        await journal.record(2.0, [broken], reply=REPLY)
    assert await journal.stored_reply("fated", "hash", 0) is None
    [fact] = await journal.record(2.0, [done(1)], reply=REPLY)
    assert fact.seq == 2
    found = await journal.stored_reply("fated", "hash", 0)
    assert found is not None
    assert (found.text, found.usage) == ("the answer", {"cost_usd": 0.1})
    await journal.close()
    with Reader(tmp_path / "journal.db") as reader:
        assert reader.reply("fated", "hash", 0) == found
        assert reader.reply("fated", "hash", 1) is None


async def test_a_text_is_kept_once_whatever_it_holds(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.db", wal=True)
    odd = "a\x00b \ud800 ☃"
    for _ in range(2):
        await journal.record(1.0, [opened()], texts=[odd])
    assert await journal.text(key_of(odd)) == odd
    with pytest.raises(KeyError):
        await journal.text("nothing")
    await journal.close()
    with Reader(tmp_path / "journal.db") as reader:
        assert reader.text(key_of(odd)) == odd
        assert reader.text("nothing") == ""


async def test_live_and_summary_are_overwritten_and_seen_by_readers(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "journal.db", wal=True)
    with Reader(tmp_path / "journal.db") as reader:
        assert reader.live() == (0.0, {})
        assert reader.summary() == {}
        version = reader.data_version()
        await journal.live(1.0, {"waits_for": ""})
        await journal.live(2.0, {"waits_for": "no answer yet"})
        await journal.record(2.0, [opened()], summary={"id": "a"})
        await journal.summarise({"id": "b"})
        assert reader.live() == (2.0, {"waits_for": "no answer yet"})
        assert reader.summary() == {"id": "b"}
        assert reader.data_version() != version
    await journal.checkpoint()
    await journal.close()


async def test_commands_wait_in_order_and_are_taken_once(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    for act in ("pause", "resume"):
        send(folder.journal, act, author="ada", seen_seq=1)
    journal = await Journal.open(folder.journal, wal=True)
    before = await journal.data_version()
    first, second = await journal.commands()
    assert (first.act, second.act, first.author, first.seen_seq) == ("pause", "resume", "ada", 1)
    await journal.take(5.0, first.id)
    await journal.record(6.0, [f.Resumed("r")], taken=[second.id])
    assert await journal.commands() == []
    send(folder.journal, "stop", seen_seq=2)
    assert await journal.data_version() != before
    assert [c.author for c in await journal.commands()] == [user()]
    await journal.close()


def test_a_command_nobody_can_take_is_refused(tmp_path: Path) -> None:
    folder = search(tmp_path).folder
    with pytest.raises(CommandRefused, match="no journal"):
        send(tmp_path / "nothing.db", "pause", seen_seq=0)
    with pytest.raises(CommandRefused, match="is the most"):
        send(folder.journal, "guide", {"text": "x" * 1_000_001}, seen_seq=0)
    folder.journal.write_bytes(b"not a database, " * 400)
    with pytest.raises(CommandRefused, match="cannot write"):
        send(folder.journal, "pause", seen_seq=0)


async def test_what_is_no_journal_says_so(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"not a database, " * 400)
    with pytest.raises(JournalUnreadable, match="cannot use"):
        await Journal.open(tmp_path / "journal.db", wal=True)
    with pytest.raises(JournalUnreadable, match="cannot read"):
        Reader(tmp_path / "journal.db")
    with pytest.raises(JournalUnreadable, match="no journal at"):
        Reader(tmp_path / "other.db")
    with pytest.raises(JournalUnreadable, match="cannot open"):
        await Journal.open(tmp_path / "no" / "such" / "journal.db", wal=True)


def test_an_empty_database_is_a_journal_without_facts(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "journal.db")
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    db.commit()
    db.close()
    with Reader(tmp_path / "journal.db") as reader:
        assert reader.path == tmp_path / "journal.db"
