"""What crosses to another host comes back as it was, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server import crossing
from mcp_server.contract import CODES, Mode, Precision, Status, Tolerance, Verdict
from mcp_server.errors import EvaluatorError, NoSuchDevice, Unreadable
from mcp_server.evaluate import StageLimits
from mcp_server.executor import HostFacts, Outcome, Place, Told, WantedStage, Work
from mcp_server.pool import Programs
from mcp_server.setting import Setting
from mcp_server.tasks import Task

if TYPE_CHECKING:
    from mcp_server.sandbox import Wanted

texts = st.text(st.characters(), max_size=40)  # half surrogates among them: candidates hold any
numbers = st.floats(allow_nan=False)
messages = st.dictionaries(
    texts, st.recursive(st.none() | st.booleans() | numbers | texts, st.lists, max_leaves=5)
)
tasks = st.builds(
    Task,
    texts,
    texts,
    texts,
    texts.map(lambda text: Path("tasks", text.replace("\0", ""))),
    by_agent=st.booleans(),
    reads=st.lists(texts, max_size=3).map(tuple),
)
works = st.builds(
    Work,
    texts,
    tasks,
    texts,
    device=texts,
    precision=st.sampled_from(get_args(Precision)),
    tolerance=st.sampled_from(get_args(Tolerance)),
    beat=st.none() | numbers,
    mode=st.sampled_from(get_args(Mode)),
    stages=st.lists(st.sampled_from(get_args(WantedStage)), max_size=4).map(tuple),
    attempt_id=st.none() | texts,
    leased=st.booleans(),
    device_name=texts,
)
verdicts = st.builds(
    Verdict,
    status=st.sampled_from(Status),
    code=st.sampled_from(sorted({code for codes in CODES.values() for code in codes})),
    cause=st.none() | st.text(max_size=20),
    runtime_ms=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    flags=st.lists(st.text(max_size=9), max_size=3),
    confirmed=st.none() | st.booleans(),
)
outcomes = st.builds(Outcome, verdicts, texts, texts, messages)
places = st.builds(
    Place, texts, texts, texts, texts, st.integers(), st.integers(), ahead=st.integers()
)


@given(works)
def test_work_comes_back_as_it_was(work: Work) -> None:
    assert crossing.read_work(crossing.work_bytes(work)) == work


@given(outcomes)
def test_an_outcome_comes_back_as_it_was(outcome: Outcome) -> None:
    assert crossing.read_outcome(crossing.outcome_bytes(outcome)) == outcome


@given(st.lists(places, max_size=3), texts, st.lists(st.text(max_size=9), max_size=3))
def test_a_hosts_facts_and_lines_come_back_as_they_were(
    seats: list[Place], problem: str, lines: list[str]
) -> None:
    host = HostFacts("h", places=tuple(seats), sandbox_missing=tuple(lines), problem=problem)
    assert crossing.read_host(crossing.host_bytes(host)) == host
    told = Told(tuple(lines), builds=tuple(lines))
    assert crossing.read_told(crossing.told_bytes(told)) == told


@given(
    st.none() | texts,
    st.sampled_from(["strict", "best-effort", "process"]),
    st.booleans(),
    numbers,
)
def test_a_setting_comes_back_but_for_the_state_folder(
    python: str | None, sandbox: Wanted, overlap: bool, seconds: float
) -> None:
    sent = Setting(
        Path("here"),
        python=python,
        sandbox=sandbox,
        overlap=overlap,
        stage_limits=StageLimits(build=seconds),
        programs=Programs(judge_reads=("a", "b")),
        lease_folder=Path("leases"),
    )
    read = crossing.read_setting(crossing.setting_bytes(sent))
    assert replace(read, home=sent.home, python=python) == sent


def test_a_damaged_setting_is_refused() -> None:
    data = crossing.setting_bytes(Setting(Path("here")))
    for at, value in (("body.more", 1), ("body.limits", ABSENT), ("body.limits.more", 1)):
        with pytest.raises(Unreadable, match="damaged setting"):
            crossing.read_setting(changed(data, at, value))


WORK = Work("job_0", Task("starter/x", "x", "y", Path("x.py")), "class ModelNew: pass")
OUTCOME = Outcome(Verdict(status=Status.OK))


ABSENT = object()


def changed(data: bytes, at: str, value: object) -> bytes:
    """Return bytes with one field, named by its path, set or taken away."""
    whole: dict[str, Any] = json.loads(data)
    *path, last = at.split(".")
    inner = whole
    for name in path:
        inner = inner[name]
    if value is ABSENT:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        ("pike", "9.9", "runs pike 9.9"),
        ("evaluator", "f" * 64, "runs evaluator ffffffff"),
        ("format", 2, "no work"),
        ("kind", "outcome", "no work"),
        ("body", [], "no work"),
        ("body.secret", 1, "unknown field 'secret'"),
        ("body.beat", ABSENT, "beat is missing"),
        ("body.source", 7, "source is missing or of another kind"),
        ("body.task.more", 7, "unknown field 'more'"),
        ("body.stages", [1], "no text"),
    ],
)
def test_what_another_version_wrote_is_refused(at: str, value: object, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        crossing.read_work(changed(crossing.work_bytes(WORK), at, value))


def test_a_verdict_with_a_field_that_is_not_known_here_is_refused() -> None:
    data = crossing.outcome_bytes(OUTCOME)
    with pytest.raises(Unreadable, match="unknown field 'charm'"):
        crossing.read_outcome(changed(data, "body.verdict.charm", 1))


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused_politely(data: bytes) -> None:
    for read in (crossing.read_work, crossing.read_outcome, crossing.read_host, crossing.read_told):
        with pytest.raises(Unreadable):
            read(data)


def test_a_host_of_another_version_says_which() -> None:
    host = HostFacts("far", "0", "e")
    older = changed(crossing.host_bytes(host), "pike", "0.0.1")
    older = changed(older, "body", {"host": "far"})
    told = crossing.read_host(older)
    assert (told.host, told.pike) == ("far", "0.0.1")
    assert "install the same" in told.problem


def test_errors_keep_their_kind() -> None:
    error = crossing.refused(crossing.refusal(NoSuchDevice("There is no tpu.")))
    assert isinstance(error, NoSuchDevice)
    assert str(error) == "There is no tpu."
    for name in ("SystemExit", "Path", "annotations", "no such"):
        assert type(crossing.refused({"error": name, "message": "m"})) is EvaluatorError


def test_every_field_crosses() -> None:
    """A field added to what crosses must be added to what is checked."""
    for kind, data in (
        (Work, crossing.work_bytes(WORK)),
        (Outcome, crossing.outcome_bytes(OUTCOME)),
        (HostFacts, crossing.host_bytes(HostFacts("h"))),
        (Told, crossing.told_bytes(Told())),
    ):
        assert set(json.loads(data)["body"]) == {f.name for f in fields(kind)}
