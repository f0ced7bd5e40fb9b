"""What makes the numbers of a session another kind of number: said wherever they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.facts import Opened

OTHER_KINDS = ("offline", "recorded")
"""Models whose answers no language model wrote."""


def labels_of(opened: Opened | None, verdicts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return `offline`, `recorded`, `tolerance paper` and `sandbox process`, as far as they hold."""
    models = {n for entry in (opened.models if opened else {}).values() for n in entry.split(",")}
    told = [name for name in OTHER_KINDS if name in models]
    judged = list(verdicts)
    if any(verdict.get("tolerance") == "paper" for verdict in judged):
        told.append("tolerance paper")
    if any(verdict.get("sandbox_level") == "process" for verdict in judged):
        told.append("sandbox process")
    return told
