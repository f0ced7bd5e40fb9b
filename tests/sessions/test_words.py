"""Small translations: verdicts, agents' calls, secrets, names, commits, samples, live rows."""

from __future__ import annotations

import pytest

from sessions import agent_tools, lineage
from sessions import facts as f
from sessions.ids import candidate_id, lineage_id, number_of, query_id
from sessions.live import STREAM_BYTES, Live
from sessions.recovery import lost_queries, revival
from sessions.redact import MASK, Redactor, secrets_of
from sessions.samples import Samples, prompt_hash
from sessions.verdicts import headline, kind_of, repeatable, runtime_ms, verdict_of
from strategies.protocol import Kind
from tests.fakes import FatedModel, verdict_on
from tests.sessions.states import done, opened, proposed, sent, state_of


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("ok", Kind.CORRECT),
        ("wrong_result", Kind.WRONG),
        ("compile_error", Kind.ERROR),
        ("runtime_error", Kind.ERROR),
        ("timeout", Kind.TIMEOUT),
        ("rejected", Kind.REJECTED),
        ("infra_error", Kind.UNAVAILABLE),
        ("task_unfit", Kind.UNAVAILABLE),
        ("a newer one", Kind.UNAVAILABLE),
    ],
)
def test_every_status_has_a_kind(status: str, kind: Kind) -> None:
    assert kind_of({"status": status}) is kind


def test_a_runtime_is_the_sessions_eager_time_over_the_paired_ratio() -> None:
    result = {"status": "ok", "speedup_eager_ratio": 4.0, "runtime_ms": 99.0}
    assert runtime_ms(result, 2.0) == 0.5
    assert runtime_ms({**result, "status": "wrong_result"}, 2.0) is None
    assert runtime_ms({"status": "ok"}, 2.0) is None
    assert runtime_ms(result, None) is None


def test_only_the_evaluators_own_faults_are_repeated() -> None:
    assert repeatable({"status": "infra_error", "code": "worker_lost"})
    assert not repeatable({"status": "infra_error", "code": "not_checkable"})
    assert not repeatable({"status": "timeout"})


def test_a_prompt_sees_the_end_of_what_was_printed() -> None:
    result = {"status": "compile_error", "code": "build_failed", "cause": "no such type"}
    result |= {"build_log": "b" * 9_000, "stderr_tail": "e" * 9_000, "stdout_tail": None}
    found = verdict_of(result, None)
    assert len(found.stderr) == 10_000
    assert found.stderr.endswith("e" * 9_000)
    assert found.stdout == ""
    assert headline(result) == "compile_error, build_failed, no such type"


@pytest.mark.parametrize(
    ("fate", "calls"),
    [
        ("ok 1.5", [("compile_kernel", True), ("check_kernel", True), ("benchmark_kernel", True)]),
        ("compile_error 0", [("compile_kernel", False)]),
        ("wrong_result 0", [("compile_kernel", True), ("check_kernel", False)]),
    ],
)
def test_a_verdict_shows_which_tools_were_called_for_the_agent(
    fate: str, calls: list[tuple[str, bool]]
) -> None:
    found = agent_tools.calls_of("c3", "EFA-1", verdict_on(f"# fate: {fate}"))
    assert [(call.tool, call.ok) for call in found] == calls
    assert {call.agent for call in found} == {"EFA-1"}


def test_secrets_are_masked_in_texts_and_json() -> None:
    environ = {"FATED_API_KEY": "sk-12345678", "SHORT_KEY": "abc", "HOME": "/home/ada-long-name"}
    secrets = secrets_of(environ, ["HOME"])
    assert secrets == ("/home/ada-long-name", "sk-12345678")
    redactor = Redactor(secrets)
    assert redactor.text("key sk-12345678!") == f"key {MASK}!"
    assert redactor.data({"a": ["sk-12345678", 3]}) == {"a": [MASK, 3]}
    same = {"a": 1}
    assert Redactor().data(same) is same


def test_names_carry_their_numbers() -> None:
    assert (query_id(3), candidate_id(12), lineage_id(4)) == ("q3", "c12", "004")
    assert (number_of("c12"), number_of("original")) == (12, 0)


def test_foreign_text_becomes_one_printable_line_of_a_commit() -> None:
    assert lineage.subject_of("a\x1b[31m\n\tb") == "a [31m b"
    assert len(lineage.subject_of("x" * 200)) == 72
    message = lineage.message_of("c1: faster", [("Pike-A", "1\nPike-B: 2"), ("Pike-C", "")])
    assert message == "c1: faster\n\nPike-A: 1 Pike-B: 2\n"


def test_equal_prompts_of_different_steps_get_different_samples() -> None:
    samples = Samples()
    assert samples.number("m", "k", "p1", 0) == 0
    samples.keep("m", "k", "p1", 0, 0)
    assert samples.number("m", "k", "p1", 0) == 0, "sent again after a kill"
    assert samples.number("m", "k", "p2", 0) == 1
    assert samples.number("other", "k", "p2", 0) == 0
    kept = Samples(state_of(opened(), proposed("p1"), sent(1, "p1")).queries.values())
    assert kept.number("fated", "key", "p2", 0) == 1


def test_sampling_parameters_are_part_of_what_was_asked() -> None:
    assert prompt_hash("key", {}) == "key"
    assert prompt_hash("key", {"temperature": 0.5}) != prompt_hash("key", {"temperature": 0.6})


def test_only_answers_from_outside_can_be_lost() -> None:
    state = state_of(opened(), proposed("p1", "p2"), sent(1, "p1"), sent(2, "p2"), done(2))
    assert lost_queries(state, {"fated": FatedModel()}) == [f.QueryLost("q1")]
    assert lost_queries(state, {"fated": FatedModel(network=False)}) == []
    assert lost_queries(state, {}) == [f.QueryLost("q1")]


def test_a_session_that_was_left_running_says_that_a_new_engine_took_over() -> None:
    assert revival(state_of(opened()), []) is None
    assert revival(state_of(opened(), f.Paused("p", "asked")), []) is None
    found = revival(state_of(opened(), proposed("p1")), [])
    assert found is not None
    assert "took over" in found.cause


class Still:
    """A clock that stands."""

    def now(self) -> float:
        return 7.0

    async def sleep(self, seconds: float) -> None:
        del seconds


def test_the_live_row_says_who_does_what_and_keeps_the_end_of_long_answers() -> None:
    live = Live(Still())
    live.agent("COA-1", "writing", "p3")
    live.note("COA-1", "waiting 20 s (rate limit)")
    live.note("COA-9", "nobody")
    live.evaluation("c2", "COA-2")
    live.stage("c2", "timing", "round 6")
    live.stage("c9", "timing")
    live.queue(1)
    live.wait_for("c2", "no evaluator here")
    live.stream("COA-1", "é" * STREAM_BYTES)
    row = live.row()
    assert row["agents"] == [
        {
            "name": "COA-1",
            "doing": "writing",
            "target": "p3",
            "since": 7.0,
            "note": "waiting 20 s (rate limit)",
        }
    ]
    assert row["evaluations"][0]["detail"] == "round 6"
    assert (row["waiting"], row["waits_for"], row["heartbeat"]) == (1, "no evaluator here", 7.0)
    assert len(row["stream"]["text"].encode()) <= STREAM_BYTES
    live.agent_done("COA-1")
    live.evaluation_done("c2")
    assert live.row()["agents"] == live.row()["evaluations"] == []
