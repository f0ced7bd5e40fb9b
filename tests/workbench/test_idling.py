"""What plain lines say while nothing happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.idling import PATIENCE_S, REPEAT_S, Idling

BUILDING = {"evaluations": [{"candidate": "c3", "stage": "build"}]}
TIMING = {"evaluations": [{"candidate": "c3", "stage": "timing", "detail": "round 2"}]}


@dataclass
class Listener:
    """Hears what is said, with a clock turned by hand."""

    now: float = 0.0
    heard: list[str] = field(default_factory=list[str])
    idling: Idling = field(init=False)

    def __post_init__(self) -> None:
        self.idling = Idling(self.heard.append, lambda: self.now)

    def look(self, live: dict[str, Any], after_s: float) -> None:
        """Look some time later."""
        self.now += after_s
        self.idling.look(live)


def test_nothing_is_said_before_a_silence() -> None:
    listener = Listener()
    listener.look(BUILDING, PATIENCE_S / 2)
    assert listener.heard == []


def test_after_a_silence_it_says_what_goes_on_once() -> None:
    listener = Listener()
    listener.look(BUILDING, PATIENCE_S)
    listener.look(BUILDING, PATIENCE_S)
    assert listener.heard == ["… c3: build"]


def test_two_stages_that_alternate_are_not_repeated() -> None:
    listener = Listener()
    for live in (BUILDING, TIMING, BUILDING, TIMING):
        listener.look(live, PATIENCE_S)
    assert listener.heard == ["… c3: build", "… c3: timing round 2"]


def test_a_long_silence_is_broken_again() -> None:
    listener = Listener()
    listener.look(BUILDING, PATIENCE_S)
    listener.look(BUILDING, REPEAT_S)
    assert len(listener.heard) == 2


def test_an_event_starts_the_wait_anew() -> None:
    listener = Listener()
    listener.look(BUILDING, PATIENCE_S)
    listener.idling.happened()
    listener.look(BUILDING, PATIENCE_S / 2)
    assert len(listener.heard) == 1


def test_agents_and_queue_are_told_inert() -> None:
    listener = Listener()
    agents = [{"name": "COA-1", "doing": "writing", "target": "p4\x1b[31m", "note": "waiting 20 s"}]
    listener.look({"agents": agents, "waiting": 2, "waits_for": "no evaluator here"}, PATIENCE_S)
    assert listener.heard == [
        "… waiting: no evaluator here; COA-1 writing for p4␛[31m, waiting 20 s; "
        "2 candidates waiting for the evaluator"
    ]
