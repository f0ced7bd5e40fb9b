from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.models.derived import base_of, derive, is_derived, rules_in
from sessions.models.offline import OfflineModel, answer
from sessions.models.rules import COMPILES, HALVES, SAYS, Rule, applicable
from strategies import reply
from strategies.protocol import Attempt, Candidate, Context, Kind, PromptRole, Verdict
from tests.sessions.models.asking import COMPILERS, context, ignore, prompt, request
from tests.sessions.models.corpus import FOREIGN, TASKS

NAMES = st.sampled_from(sorted(TASKS))
DEVICES = st.sampled_from(["cpu", "cuda"])
PRECISIONS = st.sampled_from(["fp32", "tf32", "half"])
COMPILER = st.sampled_from([(), COMPILERS])


def told(text: str) -> str:
    found = reply.candidate(text)
    assert isinstance(found, reply.Found)
    return found.source


def start(about: Context, sample: int = 0) -> str:
    return told(answer(prompt(PromptRole.START, about), sample))


def improved(about: Context, sample: int = 0) -> str:
    return told(answer(prompt(PromptRole.IMPROVE, about), sample))


def fixed(source: str, verdict: Verdict, about: Context) -> str:
    failed = Attempt(Candidate("c9", "c0", source, None), 0, verdict)
    return told(answer(prompt(PromptRole.FIX_ERROR, replace(about, attempts=(failed,))), 0))


def subclass_of_the_original(source: str) -> ast.ClassDef:
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert classes[-1].name == "ModelNew"
    return classes[-1]


@settings(deadline=None)
@given(NAMES, DEVICES, PRECISIONS, COMPILER, st.integers(0, 40))
def test_every_answer_is_a_complete_file_that_defines_modelnew(
    name: str, device: str, precision: str, languages: tuple[object, ...], sample: int
) -> None:
    about = context(TASKS[name], device=device, precision=precision, languages=languages)
    listed = reply.ideas(answer(prompt(PromptRole.IDEAS, about), 0))
    assert 1 <= len(listed) <= 10
    written = start(replace(about, idea=listed[sample % len(listed)]), sample)
    subclass_of_the_original(written)
    assert written.startswith("# change: ")
    parent = Candidate("c1", "c0", written, 1.0)
    better = improved(replace(about, parent=parent), sample)
    subclass_of_the_original(better)
    unused = set(applicable(TASKS[name], about)) - set(rules_in(written))
    assert bool(set(rules_in(better)) & unused) == bool(unused)
    plainer = fixed(better, Verdict(Kind.ERROR), replace(about, parent=parent))
    assert len(rules_in(plainer)) == max(0, len(rules_in(better)) - 1)


@settings(deadline=None)
@given(NAMES, DEVICES, PRECISIONS, st.integers(0, 9))
def test_the_same_question_has_the_same_answer(
    name: str, device: str, precision: str, sample: int
) -> None:
    about = context(TASKS[name], device=device, precision=precision)
    assert start(about, sample) == start(about, sample)


@settings(deadline=None)
@given(NAMES, DEVICES)
def test_each_idea_leads_to_its_own_rule(name: str, device: str) -> None:
    about = context(TASKS[name], device=device)
    listed = reply.ideas(answer(prompt(PromptRole.IDEAS, about), 0))
    rules = [rules_in(start(replace(about, idea=idea))) for idea in listed]
    assert rules == [(rule,) for rule in applicable(TASKS[name], about)[:10]]


def test_an_idea_asked_again_gets_a_second_rule_beside_its_own() -> None:
    about = context(TASKS["convolution"], device="cuda", idea=SAYS[Rule.CHANNELS_LAST])
    answers = [rules_in(start(about, sample)) for sample in range(4)]
    assert answers[0] == (Rule.CHANNELS_LAST,)
    assert len(set(answers)) == 4
    assert all(Rule.CHANNELS_LAST in rules for rules in answers)


def test_ideas_of_another_model_are_read_by_their_words() -> None:
    about = context(TASKS["gpt"], idea="Use SDPA instead of the explicit softmax")
    assert rules_in(start(about)) == (Rule.FUSED_ATTENTION,)
    about = context(TASKS["gpt"], idea="Rewrite everything in assembly")
    assert rules_in(start(about)) == (applicable(TASKS["gpt"], about)[0],)


def test_improvements_of_one_parent_differ_by_sample_number() -> None:
    source = TASKS["convolution"]
    first = start(context(source, device="cuda", idea=SAYS[Rule.CHANNELS_LAST]))
    about = context(source, device="cuda", parent=Candidate("c1", "c0", first, 1.0))
    found = [rules_in(improved(about, sample)) for sample in range(6)]
    assert len(set(found)) == 6
    assert all(Rule.CHANNELS_LAST in rules for rules in found)


@settings(deadline=None)
@given(NAMES, st.lists(st.sampled_from(list(Rule)), max_size=9), DEVICES)
def test_rules_that_cannot_hold_together_are_never_in_one_file(
    name: str, wanted: list[Rule], device: str
) -> None:
    rules = rules_in(derive(base_of(TASKS[name]), wanted, device))
    assert len(set(rules) & set(COMPILES)) <= 1
    assert len(set(rules) & set(HALVES)) <= 1
    captures = set(rules) & {Rule.COMPILE_OVERHEAD, Rule.COMPILE_AUTOTUNE}
    assert not (captures and Rule.CUDA_GRAPH in rules)


@settings(deadline=None)
@given(NAMES, st.lists(st.sampled_from(list(Rule)), max_size=9), DEVICES)
def test_a_derived_file_is_known_again(name: str, wanted: list[Rule], device: str) -> None:
    base = base_of(TASKS[name])
    source = derive(base, wanted, device)
    assert is_derived(source, base, device)
    assert not is_derived(source + "\nx = 1\n", base, device)


def test_a_parent_that_no_rule_wrote_is_the_base_under_another_name() -> None:
    about = context(TASKS["convolution"], parent=Candidate("c5", "c0", FOREIGN, 1.0))
    source = improved(about, 0)
    assert "class ModelBefore(nn.Module)" in source
    assert "super(ModelBefore, self)" in source
    assert "'''Not ModelNew in a string.'''" in source
    assert [base.id for base in subclass_of_the_original(source).bases if isinstance(base, ast.Name)] == [
        "ModelBefore"
    ]  # fmt: skip
    again = improved(replace(about, parent=Candidate("c6", "c5", source, 1.0)), 1)
    assert [base.id for base in subclass_of_the_original(again).bases if isinstance(base, ast.Name)] == [
        "ModelBefore2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("torch._dynamo.exc.BackendCompilerFailed", (Rule.CHANNELS_LAST, Rule.BF16)),
        ("expected m1 and m2 to have the same dtype", (Rule.CHANNELS_LAST, Rule.COMPILE)),
        ("required rank 4 tensor to use channels_last format", (Rule.COMPILE, Rule.BF16)),
        ("Segmentation fault", (Rule.CHANNELS_LAST, Rule.COMPILE)),
    ],
)
def test_a_fix_drops_the_rule_the_error_names_else_the_newest(
    said: str, left: tuple[Rule, ...]
) -> None:
    about = context(TASKS["convolution"])
    base = base_of(TASKS["convolution"])
    source = derive(base, [Rule.CHANNELS_LAST, Rule.COMPILE, Rule.BF16], "cpu")
    assert rules_in(fixed(source, Verdict(Kind.ERROR, stderr=said), about)) == left


@pytest.mark.parametrize(
    ("kind", "dropped"),
    [
        (Kind.WRONG, Rule.BF16),
        (Kind.UNAVAILABLE, Rule.BF16),
        (Kind.TIMEOUT, Rule.COMPILE_AUTOTUNE),
        (Kind.REJECTED, Rule.COMPILE_AUTOTUNE),
        (Kind.ERROR, Rule.CHANNELS_LAST),
    ],
)
def test_how_it_ended_says_which_rule_is_likely_to_blame(kind: Kind, dropped: Rule) -> None:
    rules = [Rule.BF16, Rule.COMPILE_AUTOTUNE, Rule.CHANNELS_LAST]
    source = derive(base_of(TASKS["convolution"]), rules, "cuda")
    about = context(TASKS["convolution"], device="cuda")
    left = rules_in(fixed(source, Verdict(kind), about))
    assert left == tuple(rule for rule in rules if rule is not dropped)


def test_fixing_ends_at_a_plain_subclass() -> None:
    about = context(TASKS["gpt"])
    source = derive(base_of(TASKS["gpt"]), [Rule.FUSED_ATTENTION, Rule.BF16], "cpu")
    for _ in range(3):
        source = fixed(source, Verdict(Kind.ERROR), about)
    assert rules_in(source) == ()
    assert not [n for n in subclass_of_the_original(source).body if isinstance(n, ast.FunctionDef)]


def test_what_another_model_broke_is_answered_with_a_plain_subclass() -> None:
    source = fixed("class ModelNew: broken(", Verdict(Kind.ERROR), context(TASKS["product"]))
    assert rules_in(source) == ()
    assert "class ModelNew(Model)" in source


def test_without_a_compiler_nothing_is_compiled() -> None:
    for device in ("cpu", "cuda"):
        about = context(TASKS["gpt"], device=device, languages=())
        assert not set(applicable(TASKS["gpt"], about)) & set(COMPILES)


def test_the_precision_policy_decides_what_may_be_coarser() -> None:
    fitting = {
        policy: set(
            applicable(TASKS["gpt"], context(TASKS["gpt"], device="cuda", precision=policy))
        )
        for policy in ("fp32", "tf32", "half")
    }
    assert not fitting["fp32"] & {*HALVES, Rule.TF32}
    assert Rule.TF32 in fitting["tf32"]
    assert not fitting["tf32"] & set(HALVES)
    assert set(HALVES) | {Rule.TF32} <= fitting["half"]


def test_a_branch_on_values_rules_out_a_cuda_graph() -> None:
    about = context(device="cuda")
    assert Rule.CUDA_GRAPH not in applicable(TASKS["routed"], about)
    assert Rule.CUDA_GRAPH in applicable(TASKS["gpt"], about)


def test_channels_last_is_for_convolutions_and_tf32_for_products() -> None:
    about = context(device="cuda")
    assert Rule.CHANNELS_LAST in applicable(TASKS["volume"], about)
    assert Rule.CHANNELS_LAST not in applicable(TASKS["gpt"], about)
    assert Rule.TF32 not in applicable(TASKS["activation"], about)


async def test_the_offline_model_costs_nothing_and_says_what_it_is() -> None:
    model = OfflineModel()
    assert model.label == "offline (rules, no model)"
    shown: list[str] = []
    asked = request(about=context(TASKS["product"]))
    said = await model.answer(asked, shown.append, ignore)
    assert (said.cost_usd, model.estimate_usd(asked.prompt, 9)) == (0.0, 0.0)
    assert shown == [said.text]
    await model.close()
