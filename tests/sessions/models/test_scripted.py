from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from sessions.models.port import Finish, ModelFailed, ModelRefused, Reply
from sessions.models.scripted import Fault, Line, ScriptedModel, read_script
from strategies.protocol import PromptRole
from tests.sessions.models.asking import ignore, request

if TYPE_CHECKING:
    from pathlib import Path


async def told(model: ScriptedModel, **asked: Any) -> Reply:
    return await model.answer(request(**asked), ignore, ignore)


async def test_the_most_specific_line_answers() -> None:
    model = ScriptedModel(
        [Line("any"), Line("third", proposal="p3"), Line("third, fixed", proposal="p3", step=1)]
    )
    assert (await told(model, proposal="p2")).text == "any"
    assert (await told(model, proposal="p3")).text == "third"
    assert (await told(model, proposal="p3", step=1)).text == "third, fixed"
    assert model.counts == {("p2", 0): 1, ("p3", 0): 1, ("p3", 1): 1}


async def test_lines_are_chosen_by_role() -> None:
    model = ScriptedModel([Line("- one", role="ideas"), Line("code", role="start")])
    assert (await told(model, role=PromptRole.IDEAS)).text == "- one"
    with pytest.raises(ModelFailed, match="has no line for improve, proposal p2, step 0"):
        await told(model, role=PromptRole.IMPROVE)


async def test_faults_are_what_they_say() -> None:
    cut = await told(ScriptedModel([Line("0123456789", fault=Fault.CUT_OFF)]))
    assert (cut.text, cut.finish) == ("01234", Finish.LENGTH)
    assert (await told(ScriptedModel([Line("x", fault=Fault.EMPTY)]))).text == ""
    with pytest.raises(ModelFailed):
        await told(ScriptedModel([Line(fault=Fault.ERROR)]))
    with pytest.raises(ModelRefused) as caught:
        await told(ScriptedModel([Line(fault=Fault.BAD_KEY)]))
    assert caught.value.code == "bad_key"


async def test_an_answer_that_never_comes_can_be_cancelled() -> None:
    waiting = asyncio.create_task(told(ScriptedModel([Line(fault=Fault.NEVER)])))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_latency_is_spent_where_it_was_told() -> None:
    spent: list[float] = []

    async def sleep(seconds: float) -> None:
        spent.append(seconds)

    await told(ScriptedModel([Line("x", latency_s=80.0)], sleep=sleep))
    assert spent == [80.0]


def test_a_script_is_read_from_json(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"text": "a", "fault": "cut off", "step": 2}]), encoding="utf-8")
    assert read_script(path) == [Line("a", step=2, fault=Fault.CUT_OFF)]


@pytest.mark.parametrize("text", ["{", "5", '["x"]', '[{"txt": "a"}]', '[{"fault": "sometimes"}]'])
def test_a_script_that_is_none_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelRefused, match="cannot use the script"):
        read_script(path)
