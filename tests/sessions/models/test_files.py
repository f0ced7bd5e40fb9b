"""The model `files`: prompts written whole, replies taken only when they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sessions.models.catalog import Catalog
from sessions.models.clients import ClientsModel
from sessions.models.files import LIMIT_BYTES, STABLE_S, FilesModel, incomplete, read, tidy
from sessions.models.port import NoAnswerYet, Request
from strategies.protocol import Agent, Candidate, Context, Prompt, PromptRole

if TYPE_CHECKING:
    from pathlib import Path


class Turned:
    """A clock turned by hand."""

    at = 50.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def request(query: str = "q4") -> Request:
    context = Context("", Candidate("c0", "", "", None), "cpu", "", (), "half", "budget")
    prompt = Prompt(PromptRole.START, Agent.COA, "Write it.", context)
    return Request(prompt, "p1", 0, None, 0, query=query)


def ignore(_text: str) -> None:
    pass


async def missing(model: FilesModel) -> NoAnswerYet:
    with pytest.raises(NoAnswerYet) as found:
        await model.answer(request(), ignore, ignore)
    return found.value


async def test_a_prompt_says_where_its_reply_goes_and_goes_away_with_it(tmp_path: Path) -> None:
    clock = Turned()
    model = FilesModel(tmp_path, clock)
    assert not (await missing(model)).soon
    prompt = tmp_path / "prompts" / "q4.md"
    text = prompt.read_text(encoding="utf-8")
    assert "COA, start" in text
    assert "../replies/q4.md" in text
    assert text.endswith("Write it.\n")
    (tmp_path / "replies" / "q4.md").write_bytes(b"\xef\xbb\xbfhere\r\nit is\r\n")
    assert (await missing(model)).soon
    clock.at += STABLE_S / 2
    assert (await missing(model)).soon
    clock.at += STABLE_S
    reply = await model.answer(request(), ignore, ignore)
    assert (reply.text, reply.cost_usd) == ("here\nit is\n", None)
    assert list(prompt.parent.iterdir()) == []
    assert model.estimate_usd(request().prompt, 1) is None


async def test_a_reply_that_still_grows_is_waited_for(tmp_path: Path) -> None:
    clock = Turned()
    model = FilesModel(tmp_path, clock)
    await missing(model)
    reply = tmp_path / "replies" / "q4.md"
    for length in range(1, 5):
        reply.write_text("x" * length, encoding="utf-8")
        clock.at += STABLE_S + 1
        assert (await missing(model)).soon
    clock.at += STABLE_S + 1
    assert (await model.answer(request(), ignore, ignore)).text == "xxxx"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"```python\nx = 1\n", "not closed"),
        (b"x" * (LIMIT_BYTES + 1), "shorten it"),
        (b"```python\nx = 1\n```\n", ""),
        (b"no code at all", ""),
    ],
)
def test_what_keeps_a_reply_from_being_taken(data: bytes, says: str) -> None:
    found = incomplete(data)
    assert (says in found) if says else not found


async def test_what_lies_there_and_is_no_readable_file_is_waited_for(tmp_path: Path) -> None:
    model = FilesModel(tmp_path, Turned())
    await missing(model)
    reply = tmp_path / "replies" / "q4.md"
    reply.mkdir()
    assert "q4.md is no file" in str(await missing(model))
    reply.rmdir()
    os.mkfifo(reply)  # reading it would wait for somebody who writes
    assert "q4.md is no file" in str(await missing(model))
    reply.unlink()
    reply.symlink_to("/proc/self/mem")
    assert "q4.md cannot be read (" in str(await missing(model))
    reply.unlink()
    reply.symlink_to(reply)
    assert str(await missing(model)) == "waits for its reply"


def test_of_a_huge_reply_no_more_than_its_limit_is_read(tmp_path: Path) -> None:
    with (tmp_path / "q4.md").open("wb") as file:
        file.truncate(1 << 40)
    data, why = read(tmp_path / "q4.md")
    assert data is not None
    assert (len(data), "shorten it" in why) == (LIMIT_BYTES + 1, True)


def test_prompts_of_queries_that_are_over_are_taken_away(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name in ("q1.md", "q2.md", ".q3.md.99"):
        (folder / name).write_text("x", encoding="utf-8")
    tidy(tmp_path, ["q2"])
    assert [p.name for p in folder.iterdir()] == ["q2.md"]
    tidy(tmp_path / "nothing", [])


async def test_both_are_built_in_and_need_no_key(tmp_path: Path) -> None:
    known = Catalog(env={}, artifacts=tmp_path)
    files, mcp = known.resolve("files"), known.resolve("mcp")
    assert isinstance(files, FilesModel)
    assert isinstance(mcp, ClientsModel)
    assert not files.network
    assert not mcp.network
    with pytest.raises(NoAnswerYet):
        await mcp.answer(request(), ignore, ignore)
    await files.close()
    await mcp.close()
