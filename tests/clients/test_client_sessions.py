"""Real clients, unchanged, that drive a recorded search under a person's eyes, and that are the model of one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.driving import BROKEN, GOOD, MARKS, answered, driven
from tests.clients.starting import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = MARKS
STAYS = ("--outlived",)
COMMAND_LIMIT_S = 120
WAITING_LIMIT_S = 700
"""For an engine that measures the original or an attempt, on a machine under load."""


class Person:
    """Whoever sits at the machine and types `pike …`."""

    def __init__(self, state: Path) -> None:
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(state.parent)}
        self.environment |= {"PIKE_HOME": str(state), "TMPDIR": str(state.parent)}

    def types(self, *words: str) -> str:
        """Return what a command prints."""
        done = subprocess.run(
            [str(ROOT / ".venv/bin/pike"), *words], env=self.environment, cwd=ROOT,
            capture_output=True, text=True, check=False, timeout=COMMAND_LIMIT_S,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def sees(self, session: str) -> dict[str, Any]:
        """Return what `pike show S --json` tells."""
        return json.loads(self.types("show", session, "--json"))

    def waits(self, session: str, holds: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until a session is as wished."""
        until = time.monotonic() + WAITING_LIMIT_S
        while not holds(self.sees(session)):
            assert time.monotonic() < until, self.sees(session)
            time.sleep(0.5)


@pytest.fixture
def person(state: Path) -> Iterator[Person]:
    """Somebody at the machine, who ends what runs there when all is over."""
    found = Person(state)
    yield found
    for row in json.loads(found.types("sessions", "--json")):
        if row["engine"] == "alive":
            found.types("stop", row["id"], "--now")


def test_a_client_drives_a_search_and_hears_the_person_who_watches(
    client: str, state: Path, person: Person
) -> None:
    wish = {"task_id": "starter/softmax", "title": client, "attempts": 4, "device": "cpu"}
    good = {"source": GOOD, "idea": f"the same, by {client}", "model": "scripted"}
    broken = {"source": BROKEN, "idea": "C++", "model": "scripted"}
    begun = driven(
        client, state,
        ("open_session", wish),
        ("submit_attempt", {"session_id": "$session_id", **good}),
        ("submit_attempt", {"session_id": "$session_id", **broken}),
        options=STAYS,
    )  # fmt: skip
    session = answered(begun["calls"][0])["session_id"]
    judged = [call for call in begun["calls"] if '"commit":' in json.dumps(call["wire"])]
    first, second = map(answered, judged)
    assert (first["state"], first["attempt_id"]) == ("done", "c1")
    assert first["stage"] in ("timing", "confirm"), first
    assert re.search(r"attempt_id\W+c1\b", judged[0]["text"])
    assert (second["ok"], second["attempt_id"], second["attempts_left"]) == (False, "c2", 2)
    _check_record(person, session, first["commit"], client)

    person.types("steer", session, "guide", "Fuse the bias with the cap.")
    person.types("steer", session, "ban", "c2")
    again = {**broken, "session_id": session, "source": BROKEN + "\n# again\n"}
    heard = driven(
        client, state,
        ("get_session", {"session_id": session}),
        ("submit_attempt", {**again, "parent_id": "c2"}),
        ("submit_attempt", {**again, "parent_id": "c1"}),
        options=STAYS,
    )  # fmt: skip
    seen, refused, *_, third = heard["calls"]
    assert refused["wire"]["isError"]
    assert "is banned" in refused["text"]
    assert (answered(third)["attempt_id"], answered(third)["attempts_left"]) == ("c3", 1)
    for call in (seen, third):
        assert "Fuse the bias with the cap." in call["text"]
        assert "c2" in answered(call)["guidance"]

    person.types("pause", session)
    person.waits(session, lambda seen: seen["state"] == "paused")
    waiting = {**again, "source": BROKEN + "\n# later\n", "parent_id": "c0"}
    told = driven(client, state, ("submit_attempt", waiting), options=STAYS)["calls"][-1]
    assert told["wire"]["isError"]
    assert "Keep the attempt" in told["text"]
    person.types("resume", session)
    assert [row["id"] for row in person.sees(session)["attempt_rows"]] == ["c1", "c2", "c3"]


def _check_record(person: Person, session: str, commit: str, client: str) -> None:
    """Check that screen and git hold the first attempt, its idea, its verdict and who handed it in."""
    shown = json.loads(person.types("show", session, "c1", "--json"))
    assert shown["id"] == "c1"
    said = person.types("git", session, "--", "show", "--format=%H%n%B", "--stat", commit)
    assert said.startswith(commit)
    assert f"the same, by {client}" in said
    assert "Pike-Claimed-Model: scripted" in said
    assert "Pike-Client: " in said
    assert "Pike-Verdict: " in said


def test_a_client_is_the_model_of_a_search(client: str, state: Path, person: Person) -> None:
    session = f"asked-{client}"
    person.types(
        "run", "starter/softmax", "--model", "mcp", "--strategy", "best-of-n", "--queries", "1",
        "--name", session, "--device", "cpu", "--detach",
    )  # fmt: skip
    person.waits(session, lambda seen: "repl" in seen["waits_for"])
    reply = f"One call of the library does it.\n\n```python\n{GOOD.strip()}\n```\n"
    found = driven(
        client, state,
        ("next_prompt", {"session_id": session}),
        ("get_artifact", {"artifact_id": "$text_id"}),
        ("submit_reply", {"prompt_id": "$prompt_id", "text": reply, "model": "scripted"}),
        options=STAYS,
    )  # fmt: skip
    asked, page, taken = found["calls"]
    assert "You write fast code for this machine." in asked["text"]
    assert answered(page)["total"] > len(answered(asked)["prompts"][0]["text"])
    assert (answered(taken)["state"], answered(taken)["queries_left"]) == ("answered", 0)
    person.waits(session, lambda seen: seen["state"] == "finished")
    seen = person.sees(session)
    assert [row["id"] for row in seen["attempt_rows"]] == ["c1"]
    assert seen["best_candidate"] == "c1"
    assert (seen["queries"], seen["cost_unknown"]) == (1, True)
