"""The kinds of fact: everything that happened in a session, in the order in which it happened.

A fact is a body with a number and a time; the state of a session is a fold over its facts (`fold.py`). Bodies are
plain JSON. Long texts (sources, prompts, replies) are kept once, by the SHA-256 of their content, and facts name
the key.

```
Opened Baseline ─▶ Proposed ─▶ Started ─▶ QuerySent ─▶ QueryDone ─▶ AttemptMade ─▶ EvaluationSent ─▶ ToolCalled*
                                              │  ▲        │                                              │
                                 QueryLost/Failed └─Unusable◀┘        Closed ◀─ Committed ◀─ VerdictReached ◀┘
```
With `agent_tools` an answer may ask for tools: `QueryDone ─▶ ToolAnswered* ─▶ QuerySent` of the next round, until one
does not, or `RoundsEnded`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

JOURNAL_VERSION = 1


class UnknownFact(ValueError):
    """A journal holds a kind of fact this program does not know: it was written by a newer one."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The session exists; all that was decided at its start."""

    KIND: ClassVar[str] = "opened"
    session: str
    """The session's name and id: `gpt-block`, `softmax-3`."""
    task: str
    """`SUITE/NAME`."""
    task_sha256: str
    source_key: str
    """The task file's text; it is candidate c0."""
    strategy: str
    strategy_version: int
    settings: dict[str, Any]
    """The strategy's, complete."""
    seed: int
    models: dict[str, str]
    """Role (`ideas`, `improve`, `fix`) to model name; a cascade is comma-separated."""
    limits: dict[str, float | int | None]
    """`queries`, `cost_usd`, `hours`; of an `external` search also `attempts`, `idle_hours`."""
    device: str
    precision: str
    tolerance: str
    sandbox: str
    python: str
    """The interpreter for judge and workers; empty means this one's."""
    places: int
    template_hash: str
    product_version: str
    instructions: str = ""
    notify: str = ""
    origin: str = ""
    """`--from`: the file, or `SESSION:c12`, submitted first."""
    origin_key: str = ""
    """The text of `origin`."""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    """Model name to what a person should read: `offline (rules, no model)`."""
    strategy_file: str = ""
    """A person's own strategy: the absolute path of its file, and its class."""
    strategy_sha256: str = ""
    """Of that file."""
    opened_by: str = ""
    """The caller over HTTP that opened it, who may see it; empty: someone of this machine."""
    title: str = ""
    """What an external agent calls it; foreign text."""
    executor: str = ""
    """The cluster whose machines evaluate: `ray`, `ray://HEAD`; empty: this machine, or what the settings say."""
    thinking: dict[str, str] = field(default_factory=dict[str, str])
    """Role (as in `models`) to how long its models think: a word of `models/thinking.py`; absent: not said."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The original was measured; every runtime of the session derives from its `eager_ms`."""

    KIND: ClassVar[str] = "baseline"
    verdict: dict[str, Any]
    device: str
    device_name: str
    scope: str
    eager_ms: float
    names: list[str]
    classes: list[str]
    times_ms: list[float]


@dataclass(frozen=True, slots=True)
class Informed:
    """What the evaluator knows of the device and the task, for prompts that tell it (`informed`)."""

    KIND: ClassVar[str] = "informed"
    machine: list[str]
    """What the device can do at most, one thing a line."""
    floors: list[str]
    """The least time of the task by precision class, one a line: `fp32: 0.21 ms, set by memory`."""
    cause: str = ""
    """Why the evaluator told nothing; the search goes on without."""


@dataclass(frozen=True, slots=True)
class Profiled:
    """A candidate became a parent for the first time, and its time was looked into (`profile_guided`)."""

    KIND: ClassVar[str] = "profile"
    candidate: str
    """`c0` among them."""
    hottest: list[str]
    """The ten costliest kernels: share, time and calls of one call; names are untrusted."""
    idle_share_ratio: float | None = None
    """How much of a call the GPU waits."""
    launches_per_call: float | None = None
    cause: str = ""
    """Why there is no profile; it is not tried again."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The strategy decided: its proposals (maybe none) and its state after. Reserves a query for each.

    Or a person did, by a fork or a submission, in the transaction of its `steer`: the strategy was not asked.
    """

    KIND: ClassVar[str] = "proposed"
    proposals: list[dict[str, Any]]
    """Fields of `strategies.protocol.Proposal`."""
    dump: dict[str, Any] | None
    """None: these are a person's; the strategy's state is what it was."""


@dataclass(frozen=True, slots=True)
class Started:
    """A proposal took a place."""

    KIND: ClassVar[str] = "started"
    proposal: str
    lineage: str
    """`001`..; empty for role `ideas`."""


@dataclass(frozen=True, slots=True)
class QuerySent:
    """A language model is about to be asked."""

    KIND: ClassVar[str] = "query_sent"
    query: str
    """`q1`.."""
    proposal: str
    step: int
    role: str
    """A `PromptRole`."""
    agent: str
    """`IBA-1`, `COA-3`, `EFA-2`: the agent and its place."""
    model: str
    prompt_key: str
    sample: int
    reserved_usd: float | None
    steers: list[str] = field(default_factory=list[str])
    """What shaped it: the guides that its prompt holds, the fork, pin, boost or model behind it."""
    thinking: str = ""
    """How long the model was told to think; empty: not told."""
    round: int = 0
    """1.. where tools are offered, the next ones with what they said as their prompt; 0: no tools."""
    last_round: bool = False
    """No tool may be called any more: the model must answer."""


@dataclass(frozen=True, slots=True)
class QueryDone:
    """An answer arrived; it was stored in the same transaction."""

    KIND: ClassVar[str] = "query_done"
    query: str
    reply_key: str
    finish: str
    """`stop`, `length`, `refused`, `other`."""
    input_tokens: int | None
    cached_tokens: int | None
    """Part of `input_tokens`."""
    output_tokens: int | None
    cost_usd: float | None
    """None: unknown, never zero."""
    seconds: float
    replayed: bool = False
    """Found in the store: nothing was paid."""
    client: str = ""
    """The program that answered in the model's place, and who called it; foreign text."""
    claimed: str = ""
    """The model it says it is; foreign text."""
    thinking_tokens: int | None = None
    """Part of `output_tokens`; None: not told."""
    cache_write_tokens: int | None = None
    """Part of `input_tokens` that the provider keeps for later queries, at a price of its own."""
    calls: list[str] = field(default_factory=list[str])
    """The tools that it asks for, before it answers; foreign text."""
    turn_key: str = ""
    """The text of `sessions.models.tools.Turn`: those calls whole, and what the vendor wants to be given back."""


@dataclass(frozen=True, slots=True)
class QueryLost:
    """The engine died before the answer was stored: the query counts, its reservation is the estimate."""

    KIND: ClassVar[str] = "query_lost"
    query: str


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """No answer after all tries, or the model refused to be asked."""

    KIND: ClassVar[str] = "query_failed"
    query: str
    cause: str
    code: str
    """`rate_limit`, `server`, `timeout`, `network`, `bad_key`, `unknown_model`, `cancelled`, `other`."""
    counts: bool
    """Whether it counts as a query: a bad key or an unknown model does not."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """An answer held no candidate (or no ideas): a query and a step, no attempt."""

    KIND: ClassVar[str] = "unusable"
    query: str
    proposal: str
    step: int
    fault: str


@dataclass(frozen=True, slots=True)
class AttemptMade:
    """A candidate is about to be handed to the evaluator."""

    KIND: ClassVar[str] = "attempt"
    candidate: str
    """`c1`.., numbered like the query or submission it came from."""
    parent: str
    proposal: str
    step: int
    lineage: str
    source_key: str
    query: str
    """Empty for a submission and a plain variant."""
    author: str
    """`COA`, `EFA`, `human`, or an external agent's name (foreign text)."""
    change: str
    """The file's `# change:` line; foreign text."""


@dataclass(frozen=True, slots=True)
class EvaluationSent:
    """The evaluator was asked, in an agent's name."""

    KIND: ClassVar[str] = "evaluation_sent"
    candidate: str
    agent: str
    tool: str
    endpoint: str
    job: str
    turn: int
    """1; 2 and 3 repeat an `infra_error`."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """One of the evaluator's stages was carried out for an agent."""

    KIND: ClassVar[str] = "tool_called"
    candidate: str
    agent: str
    tool: str
    """`compile_kernel`, `check_kernel`, `benchmark_kernel`."""
    ok: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A tool that an answer asked for was called, or refused: what it said is part of the next round's prompt."""

    KIND: ClassVar[str] = "tool_answered"
    query: str
    """Whose answer asked for it."""
    call: int
    """Its place among the calls of that answer, from 0."""
    agent: str
    tool: str
    """As the model named it; foreign text."""
    ok: bool
    said: str
    """One line of what it said; foreign text."""
    result_key: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RoundsEnded:
    """No further round can be paid: the last complete file that was seen is the attempt."""

    KIND: ClassVar[str] = "rounds_ended"
    query: str
    """The last one asked."""
    cause: str


@dataclass(frozen=True, slots=True)
class VerdictReached:
    """The evaluator's answer."""

    KIND: ClassVar[str] = "verdict"
    candidate: str
    kind: str
    """A `strategies.protocol.Kind`."""
    runtime_ms: float | None
    verdict: dict[str, Any]
    """Fields of `mcp_server.contract.EngineResult` without nulls."""
    reused: str = ""
    """The earlier candidate with the same source whose verdict this is."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The attempt and its verdict are a git commit."""

    KIND: ClassVar[str] = "committed"
    candidate: str
    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class Closed:
    """A trajectory ended."""

    KIND: ClassVar[str] = "closed"
    proposal: str
    reason: str
    works: str = ""
    """The candidate that works, if one does."""
    ideas: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Steered:
    """A person's command was taken: applied, or refused and why."""

    KIND: ClassVar[str] = "steer"
    steer: str
    """`s1`.."""
    command: int
    act: str
    args: dict[str, Any]
    author: str
    applied: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Remeasured:
    """One of the best was measured again at the end: it may confirm or refute; reports use its number, ranks do not."""

    KIND: ClassVar[str] = "remeasured"
    candidate: str
    verdict: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing new starts. `asked` by a person, or the engine paused itself and says why."""

    KIND: ClassVar[str] = "paused"
    cause: str
    code: str
    """`asked`, `bad_key`, `unknown_model`, `queries_failed`, `disk_full`, `evaluator`, `replay_miss`."""
    author: str = ""
    now: bool = False

    @property
    def by_itself(self) -> bool:
        """Whether the engine paused without being asked."""
        return self.code not in ("", "asked")


@dataclass(frozen=True, slots=True)
class Resumed:
    """The search goes on."""

    KIND: ClassVar[str] = "resumed"
    cause: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The engine ended on request, or, taking one step, waits for others; `resume` revives it."""

    KIND: ClassVar[str] = "stopped"
    cause: str
    author: str = ""
    code: str = "asked"
    """`asked` by a person; `waiting`: nothing could go on without an answer, or an evaluator; `cut` by a signal."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The search is over: a budget is used up, or the strategy has nothing more to propose."""

    KIND: ClassVar[str] = "finished"
    cause: str
    code: str
    """`queries`, `cost`, `hours`, `attempts`, `idle`, `exhausted`, `task_unfit`."""


Body = (
    Opened
    | Baseline
    | Informed
    | Profiled
    | Proposed
    | Started
    | QuerySent
    | QueryDone
    | QueryLost
    | QueryFailed
    | Unusable
    | AttemptMade
    | EvaluationSent
    | ToolCalled
    | ToolAnswered
    | RoundsEnded
    | VerdictReached
    | Committed
    | Closed
    | Steered
    | Remeasured
    | Paused
    | Resumed
    | Stopped
    | Finished
)

_BODIES: tuple[type[Body], ...] = (
    Opened,
    Baseline,
    Informed,
    Profiled,
    Proposed,
    Started,
    QuerySent,
    QueryDone,
    QueryLost,
    QueryFailed,
    Unusable,
    AttemptMade,
    EvaluationSent,
    ToolCalled,
    ToolAnswered,
    RoundsEnded,
    VerdictReached,
    Committed,
    Closed,
    Steered,
    Remeasured,
    Paused,
    Resumed,
    Stopped,
    Finished,
)
KINDS: dict[str, type[Body]] = {body.KIND: body for body in _BODIES}
_FIELDS = {kind: frozenset(f.name for f in fields(body)) for kind, body in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the journal."""

    seq: int
    at: float
    """Seconds since the epoch, UTC."""
    body: Body


def encode(body: Body) -> dict[str, Any]:
    """Return the body as JSON."""
    return asdict(body)


def decode(kind: str, data: dict[str, Any]) -> Body:
    """Return the body that was stored under `kind`; fields a newer program added are left out.

    Raises:
        UnknownFact: no such kind.
    """
    found = KINDS.get(kind)
    if found is None:
        raise UnknownFact(
            f"a fact of kind {kind!r} is not known to this version of pike; update pike"
        )
    known = _FIELDS[kind]
    return found(**{name: value for name, value in data.items() if name in known})
