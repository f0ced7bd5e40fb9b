from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from sessions.models.derived import base_of, derive
from sessions.models.rules import COMPILES, HALVES, Rule, applicable
from strategies.protocol import Candidate
from tests.sessions.models import compare
from tests.sessions.models.asking import context
from tests.sessions.models.corpus import TASKS

pytestmark = pytest.mark.torch


def ran(pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    asked = json.dumps([{"task": task, "candidate": candidate} for task, candidate in pairs])
    done = subprocess.run(
        [sys.executable, compare.__file__], input=asked, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def close_enough(found: dict[str, Any], rules: tuple[Rule, ...]) -> bool:
    limit = 0.1 if set(rules) & set(HALVES) else 1e-4
    return bool(found.get("names") and found.get("structure") and found["error"] <= limit)


def checked(cases: list[tuple[str, tuple[Rule, ...]]]) -> None:
    pairs = [(TASKS[name], derive(base_of(TASKS[name]), rules, "cpu")) for name, rules in cases]
    bad = {
        f"{name} with {', '.join(rules) or 'nothing'}": found
        for (name, rules), found in zip(cases, ran(pairs), strict=True)
        if not close_enough(found, rules)
    }
    assert not bad


def test_every_rule_without_a_compiler_keeps_every_task_right() -> None:
    about = context(languages=())
    cases: list[tuple[str, tuple[Rule, ...]]] = [(name, ()) for name in TASKS]
    for name, source in TASKS.items():
        fitting = applicable(source, about)
        cases += [(name, (rule,)) for rule in fitting]
        cases += [(name, tuple(fitting))] if len(fitting) > 1 else []
    assert {rule for _, rules in cases for rule in rules} == {
        Rule.FUSED_ATTENTION,
        Rule.BF16,
        Rule.CHANNELS_LAST,
    }
    checked(cases)


@pytest.mark.parametrize("name", ["integers", "gpt"])
def test_compiled_files_stay_right(name: str) -> None:
    checked([(name, (Rule.COMPILE, *([Rule.FUSED_ATTENTION, Rule.BF16] if name == "gpt" else [])))])


@pytest.mark.slow
@pytest.mark.parametrize("mode", COMPILES)
@pytest.mark.parametrize("name", ["convolution", "recurrent", "softmax", "routed"])
def test_every_mode_keeps_tasks_right(name: str, mode: Rule) -> None:
    checked([(name, (mode,))])


def test_a_rule_on_what_another_model_wrote_keeps_it_right() -> None:
    task = TASKS["convolution"]
    hand = derive(base_of(task), [Rule.CHANNELS_LAST], "cpu").replace("# rules", "# by hand")
    hand += "\n\nHELPER = 1\n"
    parent = Candidate("c1", "c0", hand, 1.0)
    about = replace(context(task, parent=parent))
    stacked = derive(base_of(hand), applicable(base_of(hand).source, about)[1:2], "cpu")
    assert "ModelBefore" in stacked
    (found,) = ran([(task, stacked)])
    assert close_enough(found, HALVES), found
