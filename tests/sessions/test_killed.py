"""`kill -9` at any moment: no fact changes, nothing is paid or committed twice, the search is the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_S = 1800


def killed(under: Path, *words: str) -> dict[str, Any]:
    """Run the program that kills engines, and return what it saw."""
    command = [sys.executable, "-m", "tests.sessions.killed", str(under), *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(seen: dict[str, Any]) -> None:
    """Assert the rule on every run."""
    assert seen["straight"]["state"] == "finished"
    assert not [p for p in seen["straight"]["proposals"].values() if p[2] == "budget"]
    acts = {act for act, applied, _ in seen["straight"]["steers"] if applied}
    assert acts == {"guide", "fork", "submit", "pin", "boost", "edit", "ban", "model"}
    for run in seen["runs"]:
        where = f"killed at {run['death']}, after {run['last']}"
        assert all(run["killed"]), where
        assert run["resumed"], where
        assert not run["changed"], f"{where}: a fact changed"
        assert run["outcome"] == seen["straight"], f"{where}: another search"
        assert all(run["outcome"]["commits"].values()), f"{where}: an attempt without its commit"
        check_money(run["ledger"], where)
        assert run["git"]["fsck"] == "", where
        assert run["git"]["attempts"] == run["ledger"]["attempts"], f"{where}: not one commit each"


def check_money(ledger: dict[str, Any], where: str) -> None:
    """Assert that no step was paid twice, but for the answers that were lost."""
    done: Counter[str] = Counter(ledger["done"])
    lost: Counter[str] = Counter(ledger["lost"])
    asked: Counter[str] = Counter(ledger["asked"])
    assert set(done.values()) == {1}, f"{where}: a step was answered twice"
    for step, times in asked.items():
        assert times - lost[step] <= 1, f"{where}: {step} was paid {times} times"


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("places", [1, 2])
def test_a_search_killed_after_any_kind_of_fact_resumes_to_the_straight_one(
    tmp_path: Path, places: int
) -> None:
    seen = killed(tmp_path, "--places", str(places), "--queries", "19")
    check(seen)
    kinds = {run["last"] for run in seen["runs"]}
    assert kinds >= {"baseline", "proposed", "started", "query_sent", "query_done", "query_failed"}
    assert kinds >= {"attempt", "evaluation_sent", "verdict", "committed", "closed", "unusable"}
    assert kinds >= {"steer", "paused", "resumed", "remeasured", "finished"}
    assert any("query_lost" in run["kinds"] for run in seen["runs"])


@pytest.mark.alone
@pytest.mark.timeout(LIMIT_S)
def test_a_search_killed_within_its_plain_start_resumes_to_the_straight_one(tmp_path: Path) -> None:
    seen = killed(tmp_path, "--places", "2", "--queries", "19", "--plain")
    check(seen)
    plain = [p for p in seen["straight"]["proposals"].values() if p[0] == "plain"]
    assert [p[1:] for p in plain] == [["c0", "works"]] * 2
    assert len(seen["runs"]) > 8
    assert {run["last"] for run in seen["runs"]} >= {"informed", "profile", "verdict"}


@pytest.mark.alone
@pytest.mark.timeout(LIMIT_S)
def test_a_search_killed_between_the_rounds_of_its_tools_resumes_to_the_straight_one(
    tmp_path: Path,
) -> None:
    seen = killed(tmp_path, "--places", "1", "--queries", "42", "--tools")
    check(seen)
    assert {run["last"] for run in seen["runs"]} >= {"query_sent", "query_done", "tool_answered"}
    for run in seen["runs"]:
        assert run["ledger"]["calls"]
        assert run["ledger"]["calls"] == run["ledger"]["called"], "a call was answered twice"
    assert any("query_lost" in run["kinds"] for run in seen["runs"])


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S)
def test_a_search_killed_after_every_fact_resumes_to_the_straight_one(tmp_path: Path) -> None:
    check(killed(tmp_path, "--places", "2", "--queries", "19", "--all"))
