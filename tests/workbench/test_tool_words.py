"""What is told of the tools that models called, of a search whose model never stops calling them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.fakes import FatedModel
from tests.sessions.searches import search
from workbench.tool_words import calls, counts, lines

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.models.port import Request


def always(_: Request) -> int:
    """Call tools in every round, the last one too."""
    return 99


async def test_what_was_asked_for_in_the_last_round_is_told_as_not_carried_out(
    tmp_path: Path,
) -> None:
    settings = {"queries": 5, "width": 1, "places": 1, "ideas": 2}
    settings |= {"agent_tools": True, "tool_rounds": 3}
    model = replace(FatedModel(fates=("ok",)), rounds=always)
    found = search(tmp_path, settings=settings, model=model)
    await found.run()
    state = found.state
    answer = next(q for q in state.queries.values() if q.round == 3)
    rounds = [q for q in state.queries.values() if (q.proposal, q.round > 0) == ("p2", True)]
    assert counts(rounds) == "4 tool calls, 2 not ok, 2 not carried out"
    assert [call["carried_out"] for call in calls(state, answer)] == [True] * 4 + [False] * 2
    told = list(lines(state, answer))
    assert told[0].startswith(f"{answer.agent} called benchmark_kernel: ok, 0.0 s: ok: as ")
    assert told[-1] == (
        f"{answer.agent} asked for guess_kernel: not carried out, no round was left"
    )
