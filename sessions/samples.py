"""The sample number: how many equal prompts another step asked before.

Siblings with one prompt get different answers; a query sent again after a kill keeps its number, so that no answer
is paid twice and the resumed search asks what the straight one asked.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.model import QueryRecord


class Samples:
    """Counts equal prompts."""

    def __init__(self, queries: Iterable[QueryRecord] = ()) -> None:
        """Take up what was asked before."""
        self._asked: dict[tuple[str, str], dict[tuple[str, int], int]] = {}
        for query in queries:
            steps = self._asked.setdefault((query.model, query.prompt_key), {})
            steps.setdefault((query.proposal, query.step), query.sample)

    def number(self, model: str, prompt_key: str, proposal: str, step: int) -> int:
        """Return the sample number of a step's prompt."""
        steps = self._asked.get((model, prompt_key), {})
        found = steps.get((proposal, step))
        return max(steps.values(), default=-1) + 1 if found is None else found

    def keep(self, model: str, prompt_key: str, proposal: str, step: int, sample: int) -> None:
        """Remember that the step asked."""
        self._asked.setdefault((model, prompt_key), {})[proposal, step] = sample


def prompt_hash(prompt_key: str, sampling: Mapping[str, Any]) -> str:
    """Return the response store's key: it covers the messages and what was set of sampling."""
    if not sampling:
        return prompt_key
    text = f"{prompt_key} {json.dumps(dict(sampling), sort_keys=True)}"
    return hashlib.sha256(text.encode()).hexdigest()
