"""The self-test's cases are well formed, so that the runner can trust their headers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mcp_server.contract import CODES, Status

CASES = sorted((Path(__file__).parents[2] / "mcp_server" / "selftest" / "cases").glob("*.py"))
STARTER = Path(__file__).parents[2] / "mcp_server" / "starter"
FIELDS = ("id", "kind", "task", "expect", "needs")


def header(text: str) -> dict[str, str]:
    lines = text.splitlines()[: len(FIELDS)]
    pairs = (line.removeprefix("# ").partition(": ") for line in lines)
    return {name: value for name, _, value in pairs}


def parts(text: str) -> tuple[str | None, str]:
    """Return the inline task, if any, and the candidate."""
    _, found, rest = text.partition("# --- task ---\n")
    if not found:
        return None, text
    task, _, candidate = rest.partition("# --- candidate ---\n")
    return task, candidate


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_a_case_names_what_it_shows_and_what_the_evaluator_must_answer(path: Path) -> None:
    fields = header(path.read_text(encoding="utf-8"))
    assert tuple(fields) == FIELDS
    assert path.stem.partition("-")[0] == fields["id"]
    assert fields["needs"] in {"cpu", "cuda", "host"}
    for answer in fields["expect"].split(" | "):
        status, _, code = answer.partition("/")
        assert (not code and status == Status.OK) or code in CODES[Status(status)]


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_a_case_holds_a_candidate_for_a_task_that_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    task, candidate = parts(text)
    defined = {node.name for node in ast.parse(candidate).body if isinstance(node, ast.ClassDef)}
    assert "ModelNew" in defined
    named = header(text)["task"]
    if named == "inline":
        assert task is not None
        assert "def get_inputs" in task
        assert "def get_init_inputs" in task
    else:
        assert (STARTER / f"{named.removeprefix('starter/')}.py").is_file()


def test_cheats_and_honest_oddities_are_both_there() -> None:
    stems = [path.stem for path in CASES]
    assert sum(stem.startswith("K") for stem in stems) >= 40
    assert sum(stem.startswith("H") for stem in stems) >= 15
