"""What makes the numbers of a session another kind of number: said wherever they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sessions.facts import Opened

OTHER_KINDS = ("offline", "recorded")
"""Models whose answers no language model wrote."""


def told_models(
    models: Mapping[str, str], labels: Mapping[str, str], thinking: Mapping[str, str]
) -> dict[str, str]:
    """Return role to what a person should read of its models: their names, and how long they are told to think."""
    found = {role: labels.get(name, name) for role, name in models.items()}
    said = {role: f", thinking {level}" for role, level in thinking.items()}
    return {role: f"{label}{said.get(role, '')}" for role, label in found.items()}


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
