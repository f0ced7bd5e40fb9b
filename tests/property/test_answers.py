"""Whatever a viewer sends as a command: an answer, never an exception, and a state that can still be read."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions import answers, proposing
from sessions import facts as f
from sessions.answering import Opened, Outside
from sessions.commands import STEERS
from sessions.facts import Body, Fact
from sessions.fold import fold
from sessions.journal import Command
from sessions.steering import shaping, status, weights
from tests.fakes import SOURCE
from tests.sessions.states import opened, state_of, tried
from workbench.steer_words import said

if TYPE_CHECKING:
    from sessions.model import State

EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
CANDIDATE = SOURCE.replace("class Model(", "class ModelNew(")
NAMES = st.sampled_from(
    ["c0", "c1", "c2", "c3", "c99", "s1", "s2", "001", "", "all", "improve", "fix"]
)
SCOPES = st.sampled_from(["session", "lineage:001", "candidate:c1", "candidate:", "x:y", ":"])
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), NAMES, SCOPES
)
ANYTHING = st.one_of(
    PLAIN, st.lists(PLAIN, max_size=3), st.dictionaries(st.text(max_size=5), PLAIN)
)
KEYS = ("candidate", "candidates", "off", "subtree", "target", "weight", "count", "text", "model", "role",
        "source", "name", "parent", "fix", "author", "steer", "steers", "scope", "last", "queries", "cost_usd",
        "hours", "limits", "models", "labels", "proposals", "before")  # fmt: skip
ARGS = st.fixed_dictionaries(
    {}, optional={key: st.one_of(ANYTHING, st.just(CANDIDATE)) for key in KEYS}
)
SENT = st.lists(st.tuples(st.sampled_from(STEERS), ARGS, st.integers(0, 50)), max_size=8)
OUTSIDE = Outside(2, False, {"dear": Opened("dear", priced=False)})


def state_now() -> State:
    """Return a search with three candidates, two correct, all committed."""
    bodies: list[Body] = [
        opened(queries=20, cost_usd=5),
        *tried(1, 1.5),
        *tried(2, None),
        *tried(3, 2.0),
    ]
    made = [f.Committed(c, "0" * 40, "lineage/001") for c in ("c1", "c2", "c3")]
    return state_of(*bodies, *made)


@settings(max_examples=EXAMPLES * 3, deadline=None)
@given(SENT)
def test_any_command_is_answered_and_leaves_a_state_that_can_be_read(
    sent: list[tuple[str, dict[str, Any], int]],
) -> None:
    state = state_now()
    for number, (act, args, seen) in enumerate(sent, 1):
        args = json.loads(json.dumps(args))
        command = Command(number, 0.0, "ada", act, args, seen)
        found = answers.answer(state, command, 2000.0, OUTSIDE)
        fact = answers.steered(state, command, found)
        assert fact.applied is not bool(fact.why)
        assert "source" not in fact.args
        opens = [proposing.by_person(found.opens)] if found.opens else []
        ends = [f.Closed(name, "cancelled") for name in found.cancels]
        bodies: list[Body] = [fact, *opens, *ends]
        for body in bodies:
            fold([Fact(state.seq + 1, 2000.0, body)], state)
            assert json.dumps(f.encode(body))
        assert {status(state, steer) for steer in state.steers.values()}
        assert all(weight > 0 for weight in weights(state).values())
        for record in state.trajectories.values():
            assert all(steer.applied for steer in shaping(state, record, "improve"))
        assert said(fact.act, fact.args) is not None
