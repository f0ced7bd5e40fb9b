"""What a strategy sees and says: the interface every search shares.

A strategy is a pure state machine. `propose(view)` decides, `absorb(outcome)` records,
`dump()/load()` round-trip through JSON. Random draws for proposal `p` come from
`Random(f"{seed}/{p.id}")`, through `random()` only.

```
            propose                start / fix                     close
  Strategy ─────────▶ Proposal ─────────────────▶ Attempt × n ─────────▶ Outcome ──▶ absorb
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from strategies.briefing import Known, ParentNotes

JsonMap = Mapping[str, Any]


class Role(StrEnum):
    """What a proposal asks for."""

    IDEAS = "ideas"
    START = "start"
    IMPROVE = "improve"
    CROSS = "cross"
    SUBMIT = "submit"
    PLAIN = "plain"


class Kind(StrEnum):
    """What a verdict means to a strategy."""

    CORRECT = "correct"
    WRONG = "wrong"
    ERROR = "error"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    UNAVAILABLE = "unavailable"
    """The evaluator's own fault; no model sees it, but for `not_checkable`."""


class Reason(StrEnum):
    """Why a trajectory closed."""

    WORKS = "works"
    GAVE_UP = "gave_up"
    CANCELLED = "cancelled"
    LOST = "lost"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file with `ModelNew`; the original is `c0`."""

    id: str
    parent: str
    source: str
    runtime_ms: float | None
    """None unless correct. `eager_ms` of the session's baseline over `speedup_eager_ratio`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The evaluator's answer as the agents' prompts and the fix policy need it."""

    kind: Kind
    code: str = ""
    cause: str = ""
    """One sentence of the evaluator's own."""
    stdout: str = ""
    """Untrusted; last 10,000 characters."""
    stderr: str = ""
    """Untrusted; the compiler's output and the traceback."""
    precision_policy: str = ""
    max_abs_diff: tuple[float, ...] = ()
    """One entry per output, as the two below."""
    output_shapes: tuple[str, ...] = ()
    output_dtypes: tuple[str, ...] = ()
    worst_output: str = ""
    error_over_budget: float | None = None
    speedup: float | None = None
    runtime_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One candidate handed to the evaluator, within its trajectory."""

    candidate: Candidate
    step: int
    """0 first, 1.. fixes. An unusable reply is a step without an attempt."""
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Proposal:
    """Opens one trajectory."""

    id: str
    """`p1`.. by the strategy; `h1`.. by the engine (fork, submit)."""
    role: Role
    parent: str
    inspirations: tuple[str, ...] = ()
    idea: str | None = None
    meta: JsonMap = field(default_factory=dict[str, Any])
    """phase, position, island: plain JSON."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Closes one trajectory."""

    proposal: Proposal
    attempts: tuple[Attempt, ...]
    works: Candidate | None
    ideas: tuple[str, ...]
    """Role `ideas` only."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class View:
    """A fold of the journal, alike for every strategy."""

    queries_left: int
    """limit - settled - reserved."""
    places: int
    """Trajectories that may run at once."""
    open: tuple[Proposal, ...]
    original: Candidate
    banned: frozenset[str] = frozenset()
    pinned: tuple[Candidate, ...] = ()
    weight: Mapping[str, float] = field(default_factory=dict[str, float])
    """Boost of candidate × boost of its lineage; absent is 1."""


class SearchSettings(Protocol):
    """What the engine reads of any strategy's settings; a frozen dataclass keeps it."""

    @property
    def queries(self) -> int:
        """Hard limit of queries."""
        ...

    @property
    def places(self) -> int:
        """Trajectories that run at once."""
        ...

    @property
    def fixes(self) -> int:
        """Fixes of one trajectory after its first answer."""
        ...

    @property
    def fix_memory(self) -> int:
        """Earlier attempts of the chain shown to EFA."""
        ...


class Strategy(Protocol):
    """A search, pure: no I/O, no clock, no process-wide random."""

    name: str
    version: int
    waits: bool
    """True: `[]` with nothing open is not the end (`external`)."""

    @property
    def seats(self) -> int:
        """Candidates that may be pinned at once; 0: it chooses no parents, so that nothing can be pinned or boosted."""
        ...

    @property
    def settings(self) -> SearchSettings:
        """The settings it was made with."""
        ...

    def propose(self, view: View) -> list[Proposal]:
        """Decide what to try next; `[]` is a barrier."""
        ...

    def absorb(self, outcome: Outcome) -> None:
        """Record one closed trajectory; decide nothing."""
        ...

    def dump(self) -> dict[str, Any]:
        """Return the whole state as JSON."""
        ...

    def load(self, state: JsonMap) -> None:
        """Take up a dumped state; migrate an older version or refuse it.

        Raises:
            StateRefused: the state is of a version this one cannot read.
        """
        ...


# --- prompts and fixes: pure helpers that `sessions` calls with templates it has read ---


class PromptRole(StrEnum):
    """Which template a query uses; its file is `strategies/prompts/ROLE.md`."""

    IDEAS = "ideas"
    START = "start"
    IMPROVE = "improve"
    CROSS = "cross"
    FIX_ERROR = "fix-error"
    FIX_WRONG = "fix-wrong"
    FIX_REJECTED = "fix-rejected"
    FIX_UNCHECKED = "fix-unchecked"
    AGAIN = "again"


class Agent(StrEnum):
    """The paper's three agents."""

    IBA = "IBA"
    COA = "COA"
    EFA = "EFA"


@dataclass(frozen=True, slots=True)
class Language:
    """One way to write a kernel that this machine can build."""

    name: str
    """`nvrtc`, `triton`, `extern-c`, `stable-abi`, `torch-library`, `load-inline`, `pytorch`."""
    seconds: float | None
    """What one build of a small kernel costs here."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """All that a prompt may tell: the same for a vendor's model and for the offline rules."""

    task_id: str
    original: Candidate
    device: str
    """`cpu` or `cuda`."""
    device_name: str
    languages: tuple[Language, ...]
    precision: str
    """The precision policy: fp32, tf32 or half."""
    tolerance: str
    parent: Candidate | None = None
    """None or the original itself where nothing better is known."""
    inspirations: tuple[Candidate, ...] = ()
    idea: str | None = None
    attempts: tuple[Attempt, ...] = ()
    """Fixes: earlier attempts of the chain, the failing one last."""
    guides: tuple[str, ...] = ()
    """A human's guides in force."""
    instructions: str = ""
    """The person's standing instructions (`--instructions FILE`)."""
    known: Known | None = None
    notes: ParentNotes | None = None
    """With `known`: what the options `informed` and `profile_guided` tell."""
    tool_rounds: int = 0
    """How often the agent may say something in this step, its answer included, where it may call tools; 0: no tools."""
    reply_fault: str = ""
    """`again`: what was wrong with the last reply."""
    again_of: PromptRole | None = None
    sample: int = 0
    """How many equal prompts came before in this session."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A finished prompt: the text for a model, the context for the rules."""

    role: PromptRole
    agent: Agent
    text: str
    context: Context
    stable: int = 0
    """So many characters from its beginning stand in other prompts of the session too: a provider may keep them."""

    @property
    def parts(self) -> tuple[str, str]:
        """The stable beginning, and the rest."""
        return self.text[: self.stable], self.text[self.stable :]


@dataclass(frozen=True, slots=True)
class Fix:
    """The fix policy's answer: query again."""

    role: PromptRole
    model: str
    """Which configured model role or name answers: `fix`, or an entry of a cascade."""


@dataclass(frozen=True, slots=True)
class Close:
    """The fix policy's answer: the trajectory ends."""

    reason: Reason
