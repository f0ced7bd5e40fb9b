"""Folded states made fact by fact, for the tests of pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.facts import Fact
from sessions.fold import fold
from tests.fakes import verdict_on
from tests.sessions.searches import request

if TYPE_CHECKING:
    from sessions.facts import Body
    from sessions.model import State


def opened(**limits: float | None) -> f.Opened:
    """Return the first fact of a session."""
    asked = request()
    return f.Opened(
        session="twice-1",
        task=asked.task,
        task_sha256="0" * 64,
        source_key="k0",
        strategy=asked.strategy,
        strategy_version=1,
        settings=asked.settings,
        seed=0,
        models=asked.models,
        limits={"queries": None, "cost_usd": None, "hours": None, **limits},
        device="cpu",
        precision="fp32",
        tolerance="budget",
        sandbox="best-effort",
        python="",
        places=3,
        template_hash="t",
        product_version="0",
    )


def proposed(*names: str, parent: str = "c0", role: str = "start") -> f.Proposed:
    """Return a decision for proposals of these names."""
    common: dict[str, Any] = {
        "role": role,
        "parent": parent,
        "inspirations": [],
        "idea": None,
        "meta": {"phase": 0},
    }
    return f.Proposed([{"id": name, **common} for name in names], {"version": 1})


def sent(number: int, proposal: str, step: int = 0, **given: Any) -> f.QuerySent:
    """Return a query on its way."""
    steers = given.pop("steers", [])
    usd = given.pop("usd", 0.0)
    return f.QuerySent(
        f"q{number}", proposal, step, "start", "COA-1", "fated", "key", 0, usd, steers
    )


def done(number: int, cost_usd: float | None = 0.0) -> f.QueryDone:
    """Return an answer."""
    return f.QueryDone(f"q{number}", "reply", "stop", 10, 0, 5, cost_usd, 1.0)


def attempt(number: int, proposal: str, parent: str = "c0", lineage: str = "001") -> f.AttemptMade:
    """Return an attempt, from the query of the same number."""
    return f.AttemptMade(
        f"c{number}", parent, proposal, 0, lineage, f"s{number}", f"q{number}", "COA", "faster"
    )


def verdict(number: int, speed: float | None, **changes: Any) -> f.VerdictReached:
    """Return a verdict: so many times faster, or wrong."""
    fate = f"ok {speed}" if speed else "wrong_result 0"
    result = verdict_on(f"# fate: {fate}") | changes
    kind = "correct" if speed else "wrong"
    return f.VerdictReached(f"c{number}", kind, 2.0 / speed if speed else None, result)


def tried(number: int, speed: float | None, *, parent: str = "c0", **changes: Any) -> list[Body]:
    """Return a whole trajectory of one query."""
    name = f"p{number}"
    return [
        proposed(name, parent=parent),
        f.Started(name, f"{number:03d}"),
        sent(number, name),
        done(number),
        attempt(number, name, parent, f"{number:03d}"),
        verdict(number, speed, **changes),
        f.Closed(name, "works" if speed else "gave_up", f"c{number}" if speed else ""),
    ]


def state_of(*bodies: Body, start: float = 1000.0, step: float = 1.0) -> State:
    """Return the state after facts that come a second apart."""
    return fold(Fact(n + 1, start + n * step, body) for n, body in enumerate(bodies))
