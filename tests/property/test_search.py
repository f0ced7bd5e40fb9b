"""Rules of the running search that hold for every interleaving, fault and steer."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions import facts as f
from sessions.commands import send
from sessions.fold import apply
from sessions.model import ORIGINAL, State
from sessions.states import SessionState, may_follow
from tests.fakes import FatedEvaluator, FatedModel, refused, unanswered
from tests.sessions.searches import Search, search

if TYPE_CHECKING:
    from sessions.models.port import Request

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
        "steers": st.integers(0, 4),
    }
)


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
    )
    evaluator = FatedEvaluator(yields=faults.yields, places=random.randrange(1, 4))
    evaluator.faults = {"c3": ["worker_lost"], "c5": ["died", "gpu_unhealthy", "worker_lost"]}
    keys = ("queries", "width", "places", "fixes", "ideas")
    limits = {"queries": shape["queries"], "cost_usd": shape["cost_usd"], "hours": None}
    return search(
        under,
        model=model,
        evaluator=evaluator,
        settings={key: shape[key] for key in keys},
        limits=limits,
    )


async def to_the_end(running: Search, shape: dict[str, Any]) -> None:
    """Run the search, resuming it whenever it pauses, with bans and budgets in between."""
    random = Random(shape["seed"] + 2)
    engine = await running.engine()
    task = asyncio.create_task(engine.run())
    left = shape["steers"]
    async with asyncio.timeout(60):
        while not task.done():
            await asyncio.sleep(0.01)
            state = running.state
            if state.state is SessionState.PAUSED:
                await _send(running, "resume", {})
            elif left and state.attempts:
                left -= 1
                await _send(running, *_steer(random, state))
    await task


def _steer(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    candidate = random.choice(list(state.attempts))
    limits = {"queries": state.spending.queries + random.randrange(6)}
    return random.choice(
        [
            ("ban", {"candidate": candidate, "subtree": random.random() < 0.5}),
            ("ban", {"candidate": candidate, "off": True}),
            ("budget", limits),
            ("guide", {"text": "less memory", "last": random.randrange(3)}),
            ("pause", {"now": random.random() < 0.5}),
        ]
    )


async def _send(running: Search, act: str, args: dict[str, Any]) -> None:
    await asyncio.to_thread(send, running.folder.journal, act, args, author="t", seen_seq=10**6)


def played(shape: dict[str, Any], under: str) -> Search:
    """Play one whole unsteady search."""
    running = unsteady(Path(under), shape)
    asyncio.run(to_the_end(running, shape))
    return running


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


def every_step_once(running: Search) -> None:
    """Nothing is answered twice, and no step of a trajectory is skipped."""
    state = running.state
    done = [(q.proposal, q.step) for q in state.queries.values() if q.end == "done"]
    assert len(done) == len(set(done))
    for trajectory in state.trajectories.values():
        steps = sorted({state.queries[q].step for q in trajectory.queries})
        assert steps == list(range(len(steps)))
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
