"""Facts in plain words."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions import facts as f
from workbench import story
from workbench.comparing import verdict_cell
from workbench.outcome_words import outcome

NEAR_ONE = {
    "status": "ok", "baseline": "compile", "precision_class": "fp32", "speedup_ratio": 0.85,
    "speedup_lo_ratio": 0.72, "speedup_hi_ratio": 0.99, "outcome": "indistinguishable",
    "noise_floor_ratio": 0.184,
}  # fmt: skip
"""An interval wholly below 1, and no difference."""
HOSTILE = st.text(st.characters(blacklist_categories=()), max_size=40) | st.sampled_from(
    ["a [/foo] b", "\x1b]52;c;aGk=\x07", "\u202egnp", "one\ntwo", "\x00", "x" * 1_000]
)
NUMBERS = st.none() | st.floats(0.001, 1000)
VERDICTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["ok", "wrong_result", "rejected", "one_of_tomorrow"]),
        "code": HOSTILE,
        "cause": HOSTILE,
        "baseline": HOSTILE,
        "precision_class": st.sampled_from(["fp32", "tf32_fp16", "bf16"]),
        "speedup_ratio": NUMBERS,
        "speedup_lo_ratio": NUMBERS,
        "speedup_hi_ratio": NUMBERS,
        "speedup_eager_ratio": NUMBERS,
        "runtime_ms": NUMBERS,
        "flags": st.lists(HOSTILE, max_size=3),
        "outcome": st.sampled_from(["faster", "slower", "indistinguishable"]),
        "sandbox_level": st.sampled_from(["bwrap", "process"]),
    },
)
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "verdict": VERDICTS,
    "proposals": st.lists(
        st.fixed_dictionaries({"id": HOSTILE, "meta": st.sampled_from([{"phase": 2}, {"island": 1}])}), max_size=14
    ),
    "kind": st.sampled_from(["correct", "wrong", "error"]) | HOSTILE,
    "args": st.dictionaries(HOSTILE, HOSTILE, max_size=3),
    "limits": st.just({"queries": 300, "cost_usd": None}),
    "models": st.dictionaries(HOSTILE, HOSTILE, max_size=3),
}  # fmt: skip
BY_TYPE: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("list[str]", st.lists(HOSTILE, max_size=5)),
    ("list[float]", st.lists(st.floats(0.001, 1000), max_size=5)),
    ("dict", st.just({})),
    ("bool", st.booleans()),
    ("None", NUMBERS),
    ("int", st.integers(0, 9)),
    ("float", st.floats(0.001, 1000)),
    ("str", HOSTILE),
]


def bodies(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Any body of a kind, with hostile text wherever it holds text."""
    hints = get_type_hints(kind)
    drawn: dict[str, st.SearchStrategy[Any]] = {}
    for field in fields(kind):
        told = str(hints[field.name]).replace("<class '", "").replace("'>", "")
        by_type = next(strategy for name, strategy in BY_TYPE if name in told)
        drawn[field.name] = BY_NAME.get(field.name, by_type)
        assert field.default is not MISSING or field.name in drawn
    return st.builds(kind, **drawn)


@pytest.mark.parametrize("kind", list(f.KINDS))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_fact_is_told_in_one_inert_line(kind: str, data: st.DataObject) -> None:
    words = story.words(data.draw(bodies(f.KINDS[kind])))
    assert len(words.splitlines()) <= 1
    assert not [c for c in words if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}]


@pytest.mark.parametrize("kind", list(f.KINDS))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_fact_has_a_json_line_that_reads_back(kind: str, data: st.DataObject) -> None:
    fact = f.Fact(7, 1_700_000_000.0, data.draw(bodies(f.KINDS[kind])))
    row = json.loads(json.dumps(story.row(fact)))
    assert (row["seq"], row["kind"]) == (7, kind)
    assert f.decode(kind, row["fact"]) == fact.body


def test_a_correct_verdict_tells_both_numbers_with_interval_and_class() -> None:
    verdict = {
        "status": "ok",
        "speedup_ratio": 1.41,
        "speedup_lo_ratio": 1.39,
        "speedup_hi_ratio": 1.43,
        "speedup_eager_ratio": 11.8,
        "precision_class": "tf32_fp16",
        "baseline": "bf16 + compile",
        "runtime_ms": 0.1731,
        "sandbox_level": "process",
    }
    assert story.verdict("correct", verdict) == (
        "correct 1.41× (1.39–1.43) tf32/fp16 over bf16 + compile, 0.173 ms, 11.8× eager "
        "[sandbox process]"
    )


def test_the_runtime_of_a_verdict_fits_its_ratio_though_the_machine_was_slow_meanwhile() -> None:
    verdict = {"runtime_ms": 1114.3, "eager_ms": 441.9, "speedup_eager_ratio": 1.1165}
    assert ", 396 ms, 1.12× eager" in story.verdict("correct", verdict)


def test_an_extraordinary_number_is_called_suspect_until_it_is_confirmed() -> None:
    verdict = {"speedup_ratio": 9.8, "flags": ["extraordinary"]}
    assert story.verdict("correct", verdict).startswith("suspect 9.80×")
    assert story.verdict("correct", {**verdict, "confirmed": True}).startswith("correct, confirmed")


def test_a_failed_verdict_tells_code_and_first_line_of_the_cause() -> None:
    verdict = {"code": "build_failed", "cause": "ptxas: too much shared data\nand more"}
    assert story.verdict("error", verdict) == "error build_failed: ptxas: too much shared data"


def test_a_steer_says_what_was_asked_and_once() -> None:
    ban = {"candidate": "c3", "subtree": True, "candidates": ["c3", "c5"]}
    guide = {"text": "fewer kernels", "scope": "session", "last": 10}
    told = [
        story.words(f.Steered("s1", 1, "ban", ban, "ada", applied=True)),
        story.words(f.Steered("s2", 2, "guide", guide, "ada", applied=True)),
        story.words(f.Steered("s3", 3, "budget", {"limits": {"queries": 8}}, "", applied=True)),
        story.words(f.Steered("s4", 4, "withdraw", {"steer": "s9"}, "", applied=False, why="no")),
    ]
    assert told == [
        "s1 ban by ada: c3 and 1 below",
        "s2 guide by ada: fewer kernels, for 10 proposals",
        "s3 budget: queries 8",
        "s4 withdraw refused: no",
    ]


def test_who_paused_or_resumed_is_named_once() -> None:
    told = [
        story.words(f.Paused("paused by ada", "asked", "ada")),
        story.words(f.Paused("the key was refused", "bad_key")),
        story.words(f.Resumed("the engine crashed", "ada")),
    ]
    assert told == [
        "paused by ada",
        "paused: the key was refused",
        "running again by ada: the engine crashed",
    ]


@pytest.mark.parametrize(
    ("floor", "margin"), [(0.184, "±18 %"), (0.004, "±2 %"), (0.021, "±2.1 %"), (None, "")]
)
def test_where_no_difference_is_told_the_noise_that_hides_it_is_named(
    floor: float | None, margin: str
) -> None:
    found = NEAR_ONE | {"noise_floor_ratio": floor}
    line = story.verdict("correct", found)
    said = "no measurable difference"
    named = f"{said}: not beyond the {margin} that noise makes here"
    assert (named if margin else f"[{said}]") in line
    assert outcome(found) in line
    assert outcome(found | {"outcome": "slower"}) == "slower"
    cell = verdict_cell("correct", found, confirmed=False)
    assert cell == f"correct, no clear gain{f' (noise {margin})' if margin else ''}"
