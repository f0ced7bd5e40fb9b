"""What a person tells whoever drives a search from outside: guides, pins, boosts and bans in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.steering import in_force, scope_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sessions.model import State

LIMIT = 1_500
"""Characters."""
HEAD = "From the person who watches this search:"


def guidance(state: State) -> str:
    """Return what holds now, newest guides first, or an empty text."""
    lines = [f"- {_line(line)}" for line in _lines(state)]
    if not lines:
        return ""
    text = "\n".join([HEAD, *lines])
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def _lines(state: State) -> Iterator[str]:
    for steer in reversed(state.steers.values()):
        if in_force(state, steer):
            scope = scope_of(steer)
            about = "" if scope == "session" else f"about {scope.replace(':', ' ')}: "
            yield f"{about}{steer.text}"
    for name in state.pins:
        yield f"build on {name}: it is pinned"
    for target, by in state.boosts.items():
        yield f"{target.replace(':', ' ')} counts {state.steers[by].args.get('weight')} times as much as others"
    if state.banned:
        yield f"do not build on {', '.join(sorted(state.banned, key=_number))}: banned"


def _number(name: str) -> tuple[int, str]:
    return len(name), name


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
