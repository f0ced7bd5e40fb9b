"""What the engine asks of a language model, and what it may answer.

```
ModelError
├── ModelRefused    bad key, unknown model, bad settings: not a query; the session pauses and says why
├── ModelFailed     no answer after all tries: counts as a query
├── ReplayMiss      a past session holds no such answer: pauses, never pays
└── NoAnswerYet     models `mcp` and `files`: an ordinary waiting state
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sessions.models.tools import Round, Tool, Turn
    from strategies.protocol import Prompt

MAX_TOKENS = 32_000


class ModelError(Exception):
    """A query that got no answer."""

    code = "other"


class ModelRefused(ModelError):
    """The provider refused to be asked: `code` is `bad_key`, `unknown_model` or `bad_settings`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ModelFailed(ModelError):
    """No answer after all tries: `code` is `rate_limit`, `server`, `timeout`, `network` or `other`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ReplayMiss(ModelError):
    """The replayed session holds no answer to this prompt."""

    code = "replay_miss"


class NoAnswerYet(ModelError):
    """The answer comes from outside, later. `soon`: it is arriving, so a single look must not give up."""

    code = "waiting"

    def __init__(self, message: str, *, soon: bool = False) -> None:
        super().__init__(message)
        self.soon = soon


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    """Cut off at max tokens: never evaluated."""
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Request:
    """One query."""

    prompt: Prompt
    proposal: str
    step: int
    position: int | None
    """The proposal's `meta["position"]`: recorded and scripted models answer by it."""
    sample: int
    query: str = ""
    """`q12`: the same for a query that is asked again after a crash."""
    tools: tuple[Tool, ...] = ()
    """What the model may call; empty: it answers at once."""
    rounds: tuple[Round, ...] = ()
    """What was said and found in this step before, oldest first."""
    last_round: bool = False
    """The tools are named, as they were used, but it must answer now."""

    @property
    def round(self) -> int:
        """1.. where tools are offered; 0 where they are not."""
        return len(self.rounds) + 1 if self.tools else 0

    max_tokens: int = MAX_TOKENS
    sampling: dict[str, Any] = field(default_factory=dict[str, Any])
    """temperature, top_p: only what was set, and only for vendors that take it."""
    thinking: str = ""
    """`off`, `low`, `medium`, `high` or a number of tokens; empty: as the vendor does by itself."""
    cache: bool = True
    """Whether the provider is asked to keep the prompt's stable beginning for the next query."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, as all vendors' counts are made alike."""

    input_tokens: int
    """With cached ones."""
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    """With reasoning."""
    thinking_tokens: int | None = None
    """The part of `output_tokens` that went into reasoning; None: not told."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer."""

    text: str
    finish: Finish
    usage: Usage | None = None
    """None: unknown."""
    cost_usd: float | None = None
    """None: unknown, never zero; the offline and recorded models cost 0."""
    model: str = ""
    """As the provider names it."""
    turn: Turn | None = None
    """The tools that it asks for before it answers; None: this is the answer."""


OnText = Callable[[str], None]
"""Called with the whole text so far, as it streams."""
OnNote = Callable[[str], None]
"""Called with what the agent's line should say: `waiting 20 s (rate limit)`."""


class LanguageModel(Protocol):
    """Answers prompts; one object per configured model name."""

    name: str
    """As configured: `opus`, `offline`."""
    label: str
    """As shown: `offline (rules, no model)`."""
    network: bool
    """Whether a query leaves this machine (and so may be lost in flight, and is stored before use)."""
    calls_tools: bool
    """Whether it can be offered the agents' tools."""

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return an upper estimate of one query's cost; None if the model's price is unknown."""
        ...

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Ask once (with retries inside).

        Raises:
            ModelError: one of the family above.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
