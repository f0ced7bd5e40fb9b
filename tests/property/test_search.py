"""Rules of the running search that hold for every interleaving, fault and steer."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions import facts as f
from sessions.commands import send
from sessions.fold import apply
from sessions.model import ORIGINAL, State
from sessions.models.port import ModelRefused
from sessions.states import SessionState, may_follow
from sessions.steering import status, weights
from strategies.options import NAMES as OPTIONS
from strategies.protocol import Language
from tests.fakes import SOURCE, FatedEvaluator, FatedModel, refused, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from sessions.models.port import LanguageModel, Request

ROLES = ("ideas", "improve", "fix", "all", "boss")
MODELS = ("fated", "other", "dear", "nobody", "other,dear")
STANDINGS = {"refused", "withdrawn", "waiting", "in force", "spent"}
LANGUAGES = (Language("extern-c", 0.6),)
"""With a compiler there are plain variants."""
LIMIT_S = 150.0
"""For one search; the machine may be busy with others."""
ALL_LIMIT_S = 900
"""For a hundred whole searches in one test, half a minute on a quiet machine."""
EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
RULE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
SHAPES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "queries": st.integers(1, 14),
        "width": st.integers(1, 4),
        "places": st.integers(1, 4),
        "fixes": st.integers(0, 2),
        "ideas": st.integers(0, 3),
        "price": st.sampled_from([0.0, 0.02, 0.05]),
        "cost_usd": st.sampled_from([None, 0.11, 0.4]),
        "failing": st.sampled_from([0.0, 0.1, 0.3]),
        "steers": st.integers(0, 12),
        "options": st.sampled_from([False, False, True]),
        "tools": st.sampled_from([0, 0, 1, 2, 5]),
    }
)
ROUNDS = 3
"""Of one step at most; a model may want more."""


class Unsteady:
    """Faults and waits drawn from one seed."""

    def __init__(self, shape: dict[str, Any]) -> None:
        self._random = Random(shape["seed"])
        self._failing = shape["failing"]

    def yields(self) -> int:
        return self._random.randrange(6)

    def fail(self, _request: Request) -> Exception | None:
        if self._random.random() >= self._failing:
            return None
        return refused() if self._random.random() < 0.2 else unanswered()


def unsteady(under: Path, shape: dict[str, Any]) -> Search:
    """Return a search with waits, faults, and steers sent before it begins."""
    faults, random = Unsteady(shape), Random(shape["seed"] + 1)
    model = FatedModel(
        seed=shape["seed"],
        price_usd=shape["price"],
        estimate=shape["price"],
        yields=faults.yields,
        fail=faults.fail,
        rounds=lambda _: shape["tools"],
    )
    evaluator = FatedEvaluator(yields=faults.yields, places=random.randrange(1, 4))
    evaluator.faults = {"c3": ["worker_lost"], "c5": ["died", "gpu_unhealthy", "worker_lost"]}
    keys = ("queries", "width", "places", "fixes", "ideas")
    limits = {"queries": shape["queries"], "cost_usd": shape["cost_usd"], "hours": None}
    settings = {key: shape[key] for key in keys} | dict.fromkeys(OPTIONS, shape["options"])
    settings |= {"agent_tools": shape["tools"] > 0, "tool_rounds": ROUNDS}
    return search(
        under,
        model=model,
        evaluator=evaluator,
        settings=settings,
        limits=limits,
    )


async def to_the_end(running: Search, shape: dict[str, Any]) -> None:
    """Run the search, resuming it whenever it pauses, with bans and budgets in between."""
    random = Random(shape["seed"] + 2)
    engine = await running.engine(open_model=partial(opened_later, running), languages=LANGUAGES)
    task = asyncio.create_task(engine.run())
    left = shape["steers"]
    async with asyncio.timeout(LIMIT_S):
        while not task.done():
            await asyncio.sleep(0.01)
            state = running.state
            if state.state is SessionState.PAUSED:
                await _send(running, "resume", {})
            elif left and state.attempts:
                left -= 1
                seen = random.choice([10**6, max(1, state.seq - 5)])
                await _send(running, *_steer(random, state), seen)
    await task
    while running.state.open:  # it finished in the moment in which something was handed in
        await _send(running, "resume", {})
        await running.run(open_model=partial(opened_later, running), languages=LANGUAGES)


def _steer(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    """Return any act, on anything there is, sensible or not."""
    candidate = random.choice([ORIGINAL, *state.attempts])
    steer = random.choice([*state.steers, "s1"])
    lineage = random.choice([*state.lineages, "001"])
    odds = random.random()
    limits = {"queries": state.spending.queries + random.randrange(6)}
    fork = {"candidate": candidate, "count": random.randrange(4), "text": "x" * int(odds * 2)}
    return random.choice(
        [
            ("ban", {"candidate": candidate, "subtree": odds < 0.5}),
            ("ban", {"candidate": candidate, "off": True}),
            ("pin", {"candidate": candidate, "off": odds < 0.2}),
            ("boost", {"target": f"candidate:{candidate}", "weight": odds * 4}),
            ("boost", {"target": f"lineage:{lineage}", "weight": random.choice([1, 2, 50])}),
            ("fork", {**fork, "model": random.choice(["", "", "dear", "nobody"])}),
            ("submit", {"source": _handed_in(random), "parent": candidate, "fix": odds < 0.6}),
            ("model", {"role": random.choice(ROLES), "model": random.choice(MODELS)}),
            ("budget", limits),
            ("guide", {"text": "less memory", "last": random.randrange(3)}),
            ("withdraw", {"steer": steer}),
            ("edit", {"steer": steer, "text": "more memory"}),
            ("pause", {"now": odds < 0.5}),
        ]
    )


def _handed_in(random: Random) -> str:
    fate = random.choice(["ok", "wrong_result", "compile_error"])
    code = SOURCE.replace("class Model(", "class ModelNew(")
    return f"# fate: {fate} {1 + random.random():.3f}\n{code}"


async def _send(running: Search, act: str, args: dict[str, Any], seen: int = 10**6) -> None:
    await asyncio.to_thread(send, running.folder.journal, act, args, author="t", seen_seq=seen)


def opened_later(running: Search, name: str) -> LanguageModel:
    """Return a model that a steer names; `dear` costs what no estimate of the first one covers."""
    if name == "nobody":
        raise ModelRefused("no model is called 'nobody'", "unknown_model")
    price = 0.07 if name == "dear" else running.model.price_usd
    return replace(running.model, name=name, price_usd=price, estimate=price)


def played(shape: dict[str, Any], under: str) -> Search:
    """Play one whole unsteady search."""
    running = unsteady(Path(under), shape)
    asyncio.run(to_the_end(running, shape))
    return running


@pytest.mark.timeout(ALL_LIMIT_S)
@RULE
@given(SHAPES)
def test_every_rule_of_a_search_holds_at_every_position_of_its_journal(
    shape: dict[str, Any],
) -> None:
    with tempfile.TemporaryDirectory() as under:
        running = played(shape, under)
        state = State()
        for fact in running.facts:
            before = state.state
            banned = set(state.banned)
            apply(state, fact)
            budget_holds(state)
            steers_stand(state, fact)
            rounds_hold(state, fact)
            bans_hold(state, fact, banned)
            assert may_follow(before, state.state) or before is state.state
        every_step_once(running)
        one_commit_each(running)


def budget_holds(state: State) -> None:
    """Settled + reserved ≤ limit, queries and dollars."""
    spending = state.spending
    assert spending.queries_reserved >= 0
    assert spending.cost_reserved_usd >= -1e-9
    queries, dollars = state.limits.get("queries"), state.limits.get("cost_usd")
    if queries is not None:
        assert spending.queries + spending.queries_reserved <= queries
    if dollars is not None:
        assert spending.cost_usd + spending.cost_reserved_usd <= dollars + 1e-6


def rounds_hold(state: State, fact: f.Fact) -> None:
    """A step has no more rounds than it may, all of one model, each after every call of the one before it."""
    match fact.body:
        case f.QuerySent(proposal=name, step=step, round=number) if number > 1:
            assert number <= ROUNDS
            asked = [state.queries[q] for q in state.trajectories[name].queries]
            rounds = [q for q in asked if q.step == step and q.round == number - 1 and q.calls]
            assert len(rounds) == 1
            assert all(call.answered for call in rounds[0].calls)
            assert rounds[0].model == fact.body.model
            assert not rounds[0].cut_short
        case _:
            pass


def bans_hold(state: State, fact: f.Fact, banned: set[str]) -> None:
    """No later proposal has a banned parent or inspiration, and no later query serves one."""
    match fact.body:
        case f.Proposed(proposals=proposals):
            for proposal in proposals:
                assert banned.isdisjoint({proposal["parent"], *proposal["inspirations"]})
        case f.QuerySent(proposal=name):
            assert state.trajectories[name].proposal.parent not in banned
        case _:
            pass


def steers_stand(state: State, fact: f.Fact) -> None:
    """Every steer stands somehow; a pinned candidate has the first seats; a query asks the model it should."""
    for steer in state.steers.values():
        assert status(state, steer) in STANDINGS
        assert bool(steer.why) is not steer.applied
    assert state.banned.isdisjoint(state.pins)
    match fact.body:
        case f.Proposed(proposals=[{"role": "improve", "parent": first}, *_], dump=dict()):
            # Where there is one place for several seeds, the heaviest gets it.
            assert first in state.pins or not state.pins or weights(state)
        case f.QuerySent(proposal=name, model=model, round=number) if number <= 1:
            named = {each for entry in state.models.values() for each in entry.split(",")}
            forked = state.trajectories[name].proposal.meta.get("model")
            assert model in named | {forked}
        case _:
            pass


def every_step_once(running: Search) -> None:
    """Nothing is answered twice, and no step of a trajectory is skipped."""
    state = running.state
    done = [(q.proposal, q.step, q.round) for q in state.queries.values() if q.end == "done"]
    assert len(done) == len(set(done))
    for trajectory in state.trajectories.values():
        steps = sorted({state.queries[q].step for q in trajectory.queries})
        handed_in = int(trajectory.proposal.role == "submit")
        assert steps == list(range(handed_in, len(steps) + handed_in))
        assert trajectory.closed


def one_commit_each(running: Search) -> None:
    """Each attempt with a verdict has one commit, which contains that verdict."""
    state, repository = running.state, str(running.folder.lineage)
    commits = {a.id: a.commit for a in state.attempts.values() if a.kind}
    assert all(commits.values())
    assert len(set(commits.values())) == len(commits)
    assert len(running.of("committed")) == len(commits)
    listed = subprocess.run(
        ["git", "-C", repository, "rev-list", "--all", "--count"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(listed.stdout) == len(commits) + 1
    for attempt in list(state.attempts.values())[-1:]:
        shown = subprocess.run(
            ["git", "-C", repository, "show", f"{attempt.commit}:verdict.json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert f'"attempt": "{attempt.id}"' in shown.stdout
        assert f'"kind": "{attempt.kind}"' in shown.stdout
        assert attempt.parent == ORIGINAL or state.attempts[attempt.parent].commit
