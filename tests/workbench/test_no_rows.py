"""What stands where attempts would, while there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sessions import facts as f
from tests.sessions.states import opened, proposed, sent, state_of
from tests.tui.journals import baseline
from workbench.widgets.no_rows import before_any

if TYPE_CHECKING:
    from sessions.facts import Body

STARTED: list[Body] = [baseline(), proposed("p1"), f.Started("p1", ""), sent(1, "p1")]
TOOL = f.ToolAnswered("q1", 0, "COA-1", "check_kernel", ok=True, said="ok", result_key="k", seconds=1.0)  # fmt: skip


@pytest.mark.parametrize(
    ("bodies", "says"),
    [
        ([], "no attempt yet: the original is measured first, then asked about"),
        ([baseline()], "no attempt yet"),
        (STARTED, "no attempt yet: 1 answer awaited"),
        ([*STARTED, f.Paused("p", "asked")], "no attempt yet: the search is paused"),
        ([baseline(), f.Finished("all queries are used", "budget")], "no attempt was made"),
    ],
)
def test_an_empty_list_says_what_goes_on(bodies: list[Body], says: str) -> None:
    assert before_any(state_of(opened(), *bodies)) == says


def test_rounds_of_tools_are_told_while_no_answer_came() -> None:
    asks = f.QueryDone("q1", "reply", "stop", 10, 0, 5, 0.0, 1.0, turn_key="t", calls=["check_kernel"])  # fmt: skip
    state = state_of(opened(), *STARTED, asks, TOOL)
    assert before_any(state) == "no attempt yet: 1 tool call so far, then agents answer"
