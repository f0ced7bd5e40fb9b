"""What a session is at one moment: the result of folding its facts. Only `fold.py` writes these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sessions.states import SessionState
from sessions.verdicts import headline, kind_of
from strategies.protocol import Kind

if TYPE_CHECKING:
    from sessions.facts import Baseline, Informed, Opened, Profiled
    from strategies.protocol import Proposal

ORIGINAL = "c0"
OUTSIDE = frozenset({"mcp", "files"})
"""Models whose answers somebody else brings, later: a query to them may stay open for days."""
WAITING = "waiting"
"""The code of a search that stands still because only others can bring what is next."""
ODD_FLAGS = frozenset({"extraordinary", "below_roofline"})
"""Of a number that is not believed before a fresh pair of processes said the same."""


@dataclass(slots=True)
class CallRecord:
    """A tool that a model asked for within a step."""

    tool: str
    """As the model named it; foreign text."""
    result_key: str = ""
    """Empty until it was called."""
    agent: str = ""
    ok: bool = False
    said: str = ""
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether its result is known."""
        return bool(self.result_key)


@dataclass(slots=True)
class QueryRecord:
    """One call to a language model."""

    id: str
    proposal: str
    step: int
    role: str
    agent: str
    model: str
    prompt_key: str
    sample: int
    reserved_usd: float | None
    sent_at: float
    steers: list[str] = field(default_factory=list[str])
    """What a person did that shaped it: guides, a fork, a pin, a boost, a model."""
    seq: int = 0
    """The number of its `query_sent`."""
    end: str = ""
    """Empty while in flight; `done`, `lost`, `failed`."""
    counts: bool = True
    reply_key: str = ""
    finish: str = ""
    cause: str = ""
    """Of a failure, or what was unusable about the answer."""
    unusable: bool = False
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    thinking_tokens: int | None = None
    cache_write_tokens: int | None = None
    seconds: float | None = None
    replayed: bool = False
    thinking: str = ""
    """How long the model was told to think."""
    client: str = ""
    """Who answered in the model's place; foreign text, as the next."""
    claimed: str = ""
    round: int = 0
    """1.. where tools were offered."""
    last_round: bool = False
    calls: list[CallRecord] = field(default_factory=list[CallRecord])
    """The tools that its answer asks for."""
    turn_key: str = ""
    cut_short: str = ""
    """Why no further round was paid."""

    @property
    def goes_on(self) -> bool:
        """Whether its answer asks for tools and another round may follow."""
        return bool(self.calls) and not self.last_round and not self.cut_short


@dataclass(slots=True)
class ToolCall:
    """One stage the evaluator carried out for an agent."""

    agent: str
    tool: str
    ok: bool
    seconds: float | None


@dataclass(slots=True)
class AttemptRecord:
    """One candidate: its attempt, its verdict, its commit."""

    id: str
    parent: str
    proposal: str
    step: int
    lineage: str
    source_key: str
    query: str
    author: str
    change: str
    at: float
    kind: str = ""
    """A `strategies.protocol.Kind`; empty until the verdict."""
    runtime_ms: float | None = None
    verdict: dict[str, Any] = field(default_factory=dict[str, Any])
    reused: str = ""
    evaluating: str = ""
    """The agent in whose name the evaluator works on it now."""
    turns: int = 0
    job: str = ""
    endpoint: str = ""
    tools: list[ToolCall] = field(default_factory=list[ToolCall])
    commit: str = ""
    branch: str = ""
    verdict_at: float | None = None
    verdict_seq: int = 0
    """The number of its `verdict`."""
    remeasured: dict[str, Any] = field(default_factory=dict[str, Any])
    banned: bool = False
    cost_usd: float | None = None
    """Of the query that wrote it."""
    queries_then: int = 0
    """Queries settled when its verdict came: the x of the best-so-far chart."""
    cost_then: float = 0.0

    @property
    def correct(self) -> bool:
        """Whether it was built, right and timed."""
        return self.kind == "correct"

    @property
    def speedup(self) -> float | None:
        """Over the strongest baseline of its class or a finer one; None unless correct."""
        value = self.verdict.get("speedup_ratio")
        return float(value) if self.correct and value is not None else None

    @property
    def confirmed(self) -> bool:
        """Whether a fresh pair of processes said the same: the newest measurement that asked one tells."""
        later = self.remeasured.get("confirmed")
        said = self.verdict.get("confirmed") if later is None else later
        return bool(said) and not self.refutation

    @property
    def odd(self) -> bool:
        """Whether its first number is extraordinary or below the roofline, and not confirmed."""
        flags: list[str] = self.verdict.get("flags") or []
        if not flags or not self.correct:  # asked of every attempt, many times a second
            return False
        return not ODD_FLAGS.isdisjoint(flags) and not self.verdict.get("confirmed")

    @property
    def refutation(self) -> str:
        """How its second measurement failed; empty: it stands, was not made, or the evaluator was at fault."""
        again = self.remeasured
        if not again or kind_of(again) is Kind.UNAVAILABLE:
            return ""
        if kind_of(again) is not Kind.CORRECT:
            return f"measured again: {headline(again)}"
        odd = ODD_FLAGS & set(again.get("flags") or ())
        if odd and not again.get("confirmed"):
            return f"measured again: {', '.join(sorted(odd))}, not confirmed"
        return ""

    @property
    def suspect(self) -> bool:
        """Whether its number is not to be believed: odd, or refuted when it was measured again."""
        return self.odd or bool(self.refutation)


@dataclass(slots=True)
class TrajectoryRecord:
    """One proposal and what became of it."""

    proposal: Proposal
    at: float
    seq: int = 0
    """The number of the fact that proposed it."""
    started: bool = False
    lineage: str = ""
    agent: str = ""
    queries: list[str] = field(default_factory=list[str])
    attempts: list[str] = field(default_factory=list[str])
    closed: str = ""
    """The reason, once closed."""
    closed_seq: int = 0
    """The number of its `closed`."""
    works: str = ""
    ideas: tuple[str, ...] = ()

    @property
    def steer(self) -> str:
        """The fork or the submission that opened it; empty: the strategy proposed it, or `--from` did."""
        return str(self.proposal.meta.get("steer") or "")

    @property
    def open(self) -> bool:
        """Whether it is not closed."""
        return not self.closed


@dataclass(slots=True)
class LineageRecord:
    """One line of descent, one branch."""

    id: str
    """`001`.."""
    attempts: list[str] = field(default_factory=list[str])
    """In order; the last is the tip."""

    @property
    def branch(self) -> str:
        """The git branch."""
        return f"lineage/{self.id}"


@dataclass(slots=True)
class SteerRecord:
    """A person's act: waiting, in force, spent, withdrawn or refused."""

    id: str
    command: int
    act: str
    args: dict[str, Any]
    author: str
    at: float
    applied: bool
    why: str = ""
    seq: int = 0
    """The number of its fact."""
    withdrawn: bool = False
    uses: int = 0
    """Queries that it shaped."""
    edits: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """New words, each with the number of the fact that brought them."""

    @property
    def of_agent(self) -> bool:
        """Whether an external agent handed in an attempt: an act on the search, but no person's."""
        return bool(self.args.get("job"))

    @property
    def text(self) -> str:
        """Its words now."""
        return self.edits[-1][1] if self.edits else str(self.args.get("text") or "")

    def text_at(self, seq: int) -> str:
        """Return the words it had when a fact was written."""
        had = [text for since, text in self.edits if since < seq]
        return had[-1] if had else str(self.args.get("text") or "")


@dataclass(slots=True)
class Spending:
    """Budget used: settled + reserved never exceeds the limit."""

    queries: int = 0
    queries_reserved: int = 0
    cost_usd: float = 0.0
    """Known costs and the estimates of lost queries."""
    cost_reserved_usd: float = 0.0
    unpriced: int = 0
    """Answered queries whose cost is unknown."""
    estimated_usd: float = 0.0
    """The part of `cost_usd` that is an estimate (lost queries)."""
    running_s: float = 0.0
    """Running time without pauses, up to the last fact."""


@dataclass(slots=True)
class State:
    """A session, folded."""

    seq: int = 0
    opened: Opened | None = None
    opened_at: float = 0.0
    last_at: float = 0.0
    state: SessionState = SessionState.RUNNING
    cause: str = ""
    code: str = ""
    """Why it is in that state; `code` as in the fact."""
    cause_author: str = ""
    baseline: Baseline | None = None
    informed: Informed | None = None
    """What the evaluator knows of device and task, where prompts tell it."""
    profiles: dict[str, Profiled] = field(default_factory=dict[str, "Profiled"])
    """Where the time of each parent goes, where prompts tell it."""
    trajectories: dict[str, TrajectoryRecord] = field(default_factory=dict[str, TrajectoryRecord])
    attempts: dict[str, AttemptRecord] = field(default_factory=dict[str, AttemptRecord])
    queries: dict[str, QueryRecord] = field(default_factory=dict[str, QueryRecord])
    lineages: dict[str, LineageRecord] = field(default_factory=dict[str, LineageRecord])
    steers: dict[str, SteerRecord] = field(default_factory=dict[str, SteerRecord])
    spending: Spending = field(default_factory=Spending)
    limits: dict[str, float | int | None] = field(default_factory=dict[str, float | int | None])
    dump: dict[str, Any] | None = None
    """The strategy's newest."""
    absorbed: list[str] = field(default_factory=list[str])
    """Proposals closed since that dump, in closing order."""
    banned: set[str] = field(default_factory=set[str])
    bans: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Banned candidate to the steers that ban it."""
    pins: dict[str, str] = field(default_factory=dict[str, str])
    """Pinned candidate to its steer, oldest pin first."""
    boosts: dict[str, str] = field(default_factory=dict[str, str])
    """`candidate:c12` or `lineage:003` to the steer that weighs it."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Role to model name, as `opened` says and steers changed it."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    """Model name to what a person should read."""
    set_by: dict[str, str] = field(default_factory=dict[str, str])
    """Limit or model role to the steer that set it last."""
    phase: int | None = None
    """Of the newest proposals, where the strategy has phases."""
    failures_in_a_row: int = 0
    """Failed queries since the last answer."""
    last_number: int = 0
    """Of the newest query or submission: the next one takes the number after it."""
    last_lineage: int = 0
    open_now: dict[str, TrajectoryRecord] = field(default_factory=dict[str, TrajectoryRecord])
    asked_now: dict[str, QueryRecord] = field(default_factory=dict[str, QueryRecord])
    leader: AttemptRecord | None = None
    """The best, by `best.best_of`; kept up so that asking for it costs nothing."""
    by_source: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Attempts by the key of their source, oldest first."""
    running_since: float | None = None
    """When the running stretch began; None while paused, stopped, finished."""

    @property
    def name(self) -> str:
        """The session's name."""
        return self.opened.session if self.opened else ""

    @property
    def answering(self) -> dict[str, str]:
        """Every model that is set or was asked, by name, with what a person should read."""
        set_now = [name for entry in self.models.values() for name in entry.split(",")]
        asked = [query.model for query in self.queries.values()]
        names = dict.fromkeys([*asked, *set_now])
        return {name: self.labels.get(name, name) for name in names if name}

    @property
    def open(self) -> list[TrajectoryRecord]:
        """Trajectories not closed, oldest first."""
        return list(self.open_now.values())

    @property
    def in_flight(self) -> list[QueryRecord]:
        """Queries sent and not ended."""
        return list(self.asked_now.values())

    @property
    def cost_unknown(self) -> bool:
        """Whether somebody pays what nobody here knows: agents that answer or hand in, models without a price."""
        names = {name for entry in self.models.values() for name in entry.split(",")}
        return self.spending.unpriced > 0 or not names or not names.isdisjoint(OUTSIDE)

    @property
    def persons_steers(self) -> list[SteerRecord]:
        """The steers of people, oldest first: what agents hand in is told by its attempts."""
        return [steer for steer in self.steers.values() if not steer.of_agent]

    @property
    def awaited(self) -> list[QueryRecord]:
        """Those of them that somebody else answers."""
        return [query for query in self.asked_now.values() if query.model in OUTSIDE]
