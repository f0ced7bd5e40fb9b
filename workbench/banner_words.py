"""What the banner of the live screen says: what is wrong or wanted, and the key or the command that settles it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.plain import Inert, inert_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.attention import Attention
    from workbench.shown import Standing

NEXT: dict[str, tuple[str, str]] = {
    "budget": ("live.budget", "Budget"),
    "no_gain": ("live.steer", "Steer"),
    "suspect": ("live.ban", "bans the selected one"),
    "bad_key": ("live.model", "Model; or set the key and resume"),
    "unknown_model": ("live.model", "Model"),
    "queries_failed": ("live.pause", "Try again"),
    "disk_full": ("live.pause", "Resume, once there is room"),
    "evaluator": ("live.pause", "Try again"),
    "replay_miss": ("live.model", "Model"),
}
"""By the code of `sessions.attention`: the act that answers, and what it does here."""


def needs_words(name: str, needs: Attention, key_of: Callable[[str], str]) -> Inert:
    """Return why a session needs its person, and the key for that; `key_of` returns an act's key."""
    asks = "needs you" if needs.stopped else "asks"
    act, label = NEXT.get(needs.code, ("", ""))
    key = key_of("live.steer" if act == "live.model" else act) if act else ""
    answer = f"  {key} {label}" if key else ""
    return inert_line(f"▲ {name} {asks}: {needs.cause}.{answer}".replace("..", "."), 600)


def silent_words(name: str, standing: Standing, key_of: Callable[[str], str]) -> Inert:
    """Return that no engine is heard of a session that should have one, and what to do."""
    key = key_of("live.pause")
    return inert_line(
        f"! {name} {standing.word}: no engine is heard. {key} starts one; the Log tab shows its last words.",
        400,
    )


def foreign_words(host: str) -> Inert:
    """Return that the engine runs elsewhere, so that nothing can be asked from here."""
    return inert_line(
        f"! The engine of this session runs on {host or 'another host'}: shown read-only here. "
        f"Steer it there.",
        400,
    )


def gone_words(path: str, name: str) -> Inert:
    """Return that the session's folder is no longer there."""
    return inert_line(
        f"! {path} is gone: it was moved or deleted while it was shown. What you see is the last "
        f"that was read; esc leaves it. If it was moved back, pike attach {name} opens it again.",
        600,
    )
