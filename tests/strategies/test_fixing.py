"""What follows a step of a trajectory."""

import pytest

from strategies.fixing import (
    FixRules,
    Step,
    Unusable,
    after,
    asked,
    fix_role,
    signature,
)
from strategies.protocol import (
    Attempt,
    Candidate,
    Close,
    Fix,
    Kind,
    PromptRole,
    Reason,
    Verdict,
)

RULES = FixRules(fixes=2)
CASCADE = FixRules(fixes=9, models=("cheap", "dear"))


def step(kind: Kind, stderr: str = "", code: str = "", cause: str = "") -> Attempt:
    verdict = Verdict(kind, code=code, cause=cause, stderr=stderr)
    return Attempt(Candidate("c1", "c0", "", None), 0, verdict)


def errors(*lines: str) -> list[Step]:
    return [step(Kind.ERROR, line) for line in lines]


def test_a_correct_attempt_closes_its_trajectory() -> None:
    assert after([step(Kind.CORRECT)], RULES) == Close(Reason.WORKS)
    assert after([*errors("a", "b"), step(Kind.CORRECT)], RULES) == Close(Reason.WORKS)


@pytest.mark.parametrize(
    ("failed", "role"),
    [
        (step(Kind.ERROR), PromptRole.FIX_ERROR),
        (step(Kind.TIMEOUT), PromptRole.FIX_ERROR),
        (step(Kind.WRONG), PromptRole.FIX_WRONG),
        (step(Kind.REJECTED), PromptRole.FIX_REJECTED),
        (step(Kind.UNAVAILABLE, code="not_checkable"), PromptRole.FIX_UNCHECKED),
    ],
)
def test_each_kind_of_failure_has_its_own_prompt(failed: Attempt, role: PromptRole) -> None:
    assert after([failed], RULES) == Fix(role, "fix")
    assert fix_role(failed.verdict) is role


def test_the_evaluators_own_fault_loses_the_trajectory_without_a_fix() -> None:
    assert after([step(Kind.UNAVAILABLE, code="worker_lost")], RULES) == Close(Reason.LOST)


def test_what_cannot_be_checked_at_the_last_step_is_lost_not_given_up() -> None:
    unchecked = step(Kind.UNAVAILABLE, code="not_checkable")
    assert after([unchecked] * 3, RULES) == Close(Reason.LOST)


def test_the_trajectory_gives_up_after_its_last_fix() -> None:
    assert isinstance(after(errors("a", "b"), RULES), Fix)
    assert after(errors("a", "b", "c"), RULES) == Close(Reason.GAVE_UP)
    assert after(errors("a"), FixRules(fixes=0)) == Close(Reason.GAVE_UP)


def test_an_unusable_reply_is_asked_again_of_the_same_agent() -> None:
    assert after([Unusable("empty")], RULES) == Fix(PromptRole.AGAIN, "improve")
    assert after([*errors("a"), Unusable("empty")], RULES) == Fix(PromptRole.AGAIN, "fix")


def test_asking_again_counts_towards_the_fixes() -> None:
    unusable = Unusable("empty")
    assert after([unusable, unusable], RULES) == Fix(PromptRole.AGAIN, "improve")
    assert after([unusable, unusable, unusable], RULES) == Close(Reason.GAVE_UP)
    assert after([unusable, unusable, *errors("a")], RULES) == Close(Reason.GAVE_UP)


def test_again_repeats_the_opening_prompt_or_the_latest_fix() -> None:
    unusable = Unusable("empty")
    assert asked([unusable], PromptRole.START) is PromptRole.START
    assert asked([*errors("a"), unusable], PromptRole.START) is PromptRole.FIX_ERROR
    steps = [*errors("a"), step(Kind.WRONG), unusable, unusable]
    assert asked(steps, PromptRole.IMPROVE) is PromptRole.FIX_WRONG


def test_the_same_failure_has_the_same_signature_whatever_its_numbers_and_paths() -> None:
    first = step(Kind.ERROR, 'File "/tmp/x1/a.py", line 12\nRuntimeError: at 0x7f3a, 1.5 MiB')
    other = step(Kind.ERROR, 'File "/tmp/y/b.py", line 7\nRuntimeError: at 0x1b, 22 MiB\n')
    assert signature(first.verdict) == signature(other.verdict)
    assert signature(first.verdict) != signature(step(Kind.TIMEOUT, "RuntimeError: at").verdict)


def test_a_signature_falls_back_to_the_cause_then_to_the_code() -> None:
    assert signature(step(Kind.WRONG, cause="Off.", code="values").verdict) == "wrong: Off."
    assert signature(step(Kind.WRONG, code="values").verdict) == "wrong: values"
    assert signature(step(Kind.WRONG).verdict) == "wrong: "


@pytest.mark.parametrize(
    ("steps", "model"),
    [
        (errors("a"), "cheap"),
        (errors("a", "b"), "cheap"),
        (errors("a", "b", "c"), "dear"),
        (errors("a", "a"), "dear"),
        (errors("a", "b", "a"), "dear"),
        (errors("a", "a", "b", "c", "d", "e"), "dear"),
        ([*errors("a"), Unusable("x")], "cheap"),
        ([*errors("a"), Unusable("x"), Unusable("x")], "dear"),
        ([Unusable("x"), Unusable("x"), *errors("a", "b")], "cheap"),
    ],
)
def test_the_cascade_moves_on_after_two_failed_fixes_or_a_repeated_error(
    steps: list[Step], model: str
) -> None:
    following = after(steps, CASCADE)
    assert isinstance(following, Fix)
    assert following.model == model


def test_a_cascade_of_three_needs_new_failures_for_its_third() -> None:
    rules = FixRules(fixes=9, models=("a", "b", "c"))
    models = [
        following.model
        for n in range(1, 8)
        if isinstance(following := after(errors(*"123456789"[:n]), rules), Fix)
    ]
    # The lines differ in numbers only, so each fix repeats the error; the last model stays.
    assert models == ["a", "b", "c", "c", "c", "c", "c"]


def test_there_is_nothing_to_fix_about_a_correct_attempt() -> None:
    assert fix_role(Verdict(Kind.CORRECT)) is None


def test_the_next_model_of_a_cascade_starts_with_a_clean_slate() -> None:
    rules = FixRules(fixes=9, models=("a", "b", "c"))
    following = after(errors("x", "y", "z", "y"), rules)
    assert isinstance(following, Fix)
    assert following.model == "b"
