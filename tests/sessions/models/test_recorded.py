from __future__ import annotations

import pytest

from sessions.models.port import ModelRefused, Request
from sessions.models.recorded import (
    LATENCY_S,
    RecordedModel,
    find,
    index,
    recorded_tasks,
    refusal,
)
from strategies import reply
from strategies.protocol import PromptRole
from tests.sessions.models.asking import context, ignore, request

PAIRS = sorted(index())


def asked(role: PromptRole, proposal: str, **more: int | None) -> Request:
    about = context(idea="an idea" if role is not PromptRole.IMPROVE else None)
    given = {"step": 0, "position": None, **more}
    return request(role, about=about, proposal=proposal, **given)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("task", "device"), PAIRS)
def test_every_position_of_a_demo_search_has_its_own_answer(task: str, device: str) -> None:
    starts = {
        find(asked(PromptRole.START, f"p{n + 2}", position=n), task, device).file for n in range(5)
    }
    improves = {find(asked(PromptRole.IMPROVE, f"p{n}"), task, device).file for n in range(7, 12)}
    ideas = find(asked(PromptRole.IDEAS, "p1"), task, device)
    assert (len(starts), len(improves), ideas.role) == (5, 5, "ideas")


@pytest.mark.parametrize(("task", "device"), PAIRS)
async def test_every_recorded_file_is_an_answer_that_can_be_read(task: str, device: str) -> None:
    async def at_once(seconds: float) -> None:
        del seconds

    model = RecordedModel(at_once)
    for row in index()[task, device]:
        role = PromptRole(row.role) if row.step == 0 else PromptRole.FIX_ERROR
        about = context(task_id=task, device=device, idea="x" if row.role == "start" else None)
        question = request(
            role,
            about=about,
            proposal=f"p{row.position if row.role == 'improve' else row.position + 2}",
            position=row.position,
            step=row.step,
        )
        said = await model.answer(question, ignore, ignore)
        assert find(question, task, device) == row
        if row.role == "ideas":
            assert 1 <= len(reply.ideas(said.text)) <= 10
        else:
            found = reply.candidate(said.text)
            assert isinstance(found, reply.Found)
            assert reply.change(found.source)


def test_a_fix_that_is_not_recorded_gets_the_chains_last_step() -> None:
    task, device = "starter/softmax", "cpu"
    last = find(asked(PromptRole.FIX_WRONG, "p3", step=1, position=1), task, device)
    beyond = find(asked(PromptRole.FIX_ERROR, "p3", step=9, position=1), task, device)
    assert beyond == last
    assert (last.role, last.position, last.step) == ("start", 1, 1)


async def test_a_task_without_answers_is_refused_with_those_that_have_them() -> None:
    about = context(task_id="level1/17")
    with pytest.raises(ModelRefused) as caught:
        await RecordedModel().answer(request(about=about), ignore, ignore)
    assert all(task in str(caught.value) for task in recorded_tasks())
    assert refusal("starter/softmax", "cpu") == ""
    assert "not for tpu" in refusal("starter/softmax", "tpu")


async def test_an_answer_takes_its_time_and_is_seen_growing() -> None:
    spent: list[float] = []
    seen: list[str] = []

    async def sleep(seconds: float) -> None:
        spent.append(seconds)

    model = RecordedModel(sleep)
    said = await model.answer(asked(PromptRole.START, "p2", position=0), seen.append, ignore)
    assert seen[-1] == said.text
    assert len(seen) > 5
    assert all(said.text.startswith(text) for text in seen)
    assert LATENCY_S[0] <= sum(spent) <= LATENCY_S[1]
    assert (said.cost_usd, model.label) == (0.0, "recorded (answers written beforehand)")
