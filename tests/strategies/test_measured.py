"""What `informed` and `profile_guided` put into prompts, and that without them nothing stands there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from strategies.briefing import Fate, Known, ParentNotes, PlainTime
from strategies.prompting import build
from strategies.protocol import Context, PromptRole
from tests.strategies.shipped import FAILED, PARENT, TEMPLATES, context

KNOWN = Known(
    machine=("memory: copy 3.9 TB/s", "one launch: 2.1 µs"),
    floors=("fp32: 0.21 ms, set by memory", "bf16: 0.11 ms, set by memory"),
    plain=(
        PlainTime("torch.compile, mode max-autotune", "bf16", 0.4),
        *(PlainTime(f"variant {n}", "fp32", 1.0 + n / 10) for n in range(9)),
        PlainTime("eager", "fp32", 2.4),
    ),
    eager_ms=2.4,
)
NOTES = ParentNotes(
    runtime_ms=1.2,
    speedup_eager=2.0,
    speedup=0.9,
    baseline="bf16_cast_compile",
    kernels=("60% 30.0 µs, 2 calls, library: sgemm", "40% 20.0 µs, 1 calls, own: \x1b[2Jmine"),
    idle_share=0.31,
    launches=12.0,
    fates=(
        Fate("fuse the bias", 0.93),
        Fate("", None, "error: nvcc failed\nwith much more"),
        Fate("x" * 900, None, ""),
    ),
    asked=3,
)
TOLD = (PromptRole.IDEAS, PromptRole.START, PromptRole.IMPROVE, PromptRole.CROSS)


def text(role: PromptRole, given: Context) -> str:
    return build(role, given, TEMPLATES).text


@pytest.mark.parametrize("role", TOLD)
def test_what_is_known_stands_between_the_task_and_the_request(role: PromptRole) -> None:
    said = text(role, context(known=KNOWN, parent=PARENT))
    assert "* memory: copy 3.9 TB/s\n* one launch: 2.1 µs" in said
    assert "* bf16: 0.11 ms, set by memory" in said
    assert "* torch.compile, mode max-autotune (bf16): 0.4 ms, 6.00× over eager" in said
    assert "variant 6" in said
    assert "variant 7" not in said  # the fastest eight, and the original besides
    assert "* eager (fp32): 2.4 ms\n" in said
    assert "So 0.4 ms is what anyone has for nothing." in said
    assert said.index("class Model:") < said.index("## What was measured here")
    assert said.index("## What was measured here") < said.index("## What to answer")


@pytest.mark.parametrize("role", TOLD)
def test_without_the_options_nothing_of_it_stands_in_a_prompt(role: PromptRole) -> None:
    said = text(role, context(parent=PARENT))
    for word in ("measured here", "floor", "one line of PyTorch", "costliest", "Where the time"):
        assert word not in said


def test_code_is_reckoned_before_it_is_written_and_ideas_say_what_they_should_bring() -> None:
    assert "reckon in a few lines" in text(PromptRole.START, context(known=KNOWN))
    ideas = text(PromptRole.IDEAS, context(known=KNOWN))
    assert "what it should bring the runtime to" in " ".join(ideas.split())
    assert "reckon in a few lines" not in ideas


def test_an_unmeasured_floor_is_to_be_reckoned_and_no_plain_variant_is_made_up() -> None:
    said = text(PromptRole.START, context(known=replace(KNOWN, floors=(), plain=(), machine=())))
    assert "was not measured: reckon it yourself" in said
    assert "one line of PyTorch" not in said
    assert "This device at most" not in said


@pytest.mark.parametrize("role", [PromptRole.IMPROVE, PromptRole.CROSS])
def test_the_parents_time_its_kernels_and_its_childrens_fates_are_told(role: PromptRole) -> None:
    said = text(role, context(notes=NOTES, parent=PARENT))
    assert "takes 1.2 ms, 2.00× over eager, 0.90× over its baseline, bf16_cast_compile, on" in said
    assert "on NVIDIA H200." in said
    assert "60% 30.0 µs, 2 calls, library: sgemm\n40% 20.0 µs, 1 calls, own: [2Jmine" in said
    assert "The GPU waits 31% of a call with 12 launches." in said
    assert "\nfuse the bias: 0.93× of the parent's runtime\n" in said
    assert "\na change without a name: error: nvcc failed with much more\n" in said
    assert "...: failed\n" in said
    assert "\x1b" not in said
    assert "x" * 300 not in said


def test_a_start_tells_where_the_time_of_the_original_goes() -> None:
    notes = replace(NOTES, speedup_eager=None, speedup=None, idle_share=None, fates=())
    said = text(PromptRole.START, context(notes=notes))
    assert "## Where the time of the original goes\n\nThe original takes 1.2 ms on NVIDIA" in said
    assert "GPU waits" not in said
    assert "tried on it before" not in said


def test_a_parent_without_time_or_profile_is_told_as_that() -> None:
    notes = replace(NOTES, runtime_ms=None, kernels=())
    said = text(PromptRole.IMPROVE, context(notes=notes, parent=PARENT))
    assert "The program to improve was not timed on NVIDIA H200." in said
    assert "costliest" not in said


@pytest.mark.parametrize("role", [r for r in PromptRole if r.startswith("fix")])
def test_a_fix_is_told_none_of_it(role: PromptRole) -> None:
    from tests.strategies.test_prompting import FIXES

    given = context(attempts=(FIXES[role],), known=KNOWN, notes=NOTES, parent=FAILED)
    assert "measured here" not in text(role, given)
    assert "costliest" not in text(role, given)
