"""Both channels of a result say the same, and fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from mcp.types import TextContent

from mcp_server.artifacts import Artifacts
from mcp_server.contract import CODES, EngineResult, Status
from mcp_server.listings import ArtifactPage
from mcp_server.reply import headline, plain_reply, verdict_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.types import CallToolResult

texts = st.text(max_size=12_000)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)


@st.composite
def results(draw: st.DrawFn) -> EngineResult:
    status = draw(st.sampled_from(list(Status)))
    code = draw(st.sampled_from([None, *sorted(CODES[status])]))
    return EngineResult(
        state="done",
        ok=status is Status.OK,
        status=status,
        code=code,
        stage="timing",
        cause=draw(st.none() | st.text(max_size=300)),
        build_log=draw(st.none() | texts),
        stdout_tail=draw(st.none() | texts),
        stderr_tail=draw(st.none() | texts),
        flags=draw(st.lists(st.text(max_size=20), max_size=5)),
        speedup_ratio=draw(st.none() | numbers),
        runtime_ms=draw(st.none() | numbers),
        registers_max=draw(st.none() | st.integers(0, 255)),
        max_abs_diff=draw(st.none() | st.lists(numbers, max_size=400)),
        confirmed=draw(st.none() | st.booleans()),
        candidate_sha256="0" * 64,
    )


def fields_of(result: EngineResult, *, whole: bool) -> dict[str, Any]:
    return verdict_reply(result, whole=whole).structured_content or {}


def text_of(reply: CallToolResult) -> str:
    content = reply.content[0]
    assert isinstance(content, TextContent)
    return content.text


def scalars(value: Any) -> Iterator[str]:
    """Return every value in a result as the text must show it."""
    if isinstance(value, list):
        for item in value:  # pyright: ignore[reportUnknownVariableType] -- JSON
            yield from scalars(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


@given(results())
def test_every_value_of_one_channel_stands_in_the_other(result: EngineResult) -> None:
    reply = verdict_reply(result, whole=False)
    text = text_of(reply)
    assert reply.structured_content is not None
    for name, value in reply.structured_content.items():
        assert f"{name}: " in text
        for shown in scalars(value):
            assert shown in text


@given(results())
def test_each_channel_of_an_agent_s_result_fits_8000_bytes(result: EngineResult) -> None:
    reply = verdict_reply(result, whole=False)
    assert len(json.dumps(reply.structured_content).encode()) <= 8_000
    assert len(text_of(reply).encode("utf-8", "surrogatepass")) <= 8_000


@given(results())
def test_an_agent_sees_no_field_of_the_engine(result: EngineResult) -> None:
    shown = fields_of(result, whole=False)
    assert "candidate_sha256" not in shown
    whole = fields_of(result, whole=True)
    assert whole["candidate_sha256"] == "0" * 64


def test_a_failed_build_shows_its_errors_with_the_author_s_lines() -> None:
    noise = "[1/2] c++ -O3 main.cpp\n" * 400
    error = "main.cpp:3:10: error: 'y' was not declared in this scope\n    3 | return y;\n      |        ^"
    result = EngineResult(
        ok=False,
        status=Status.COMPILE_ERROR,
        code="build_failed",
        stage="build",
        build_log=f"{noise}{error}\n{noise}",
    )
    shown = fields_of(result, whole=False)
    assert shown["build_log"] == error


def test_a_pending_job_names_its_id_and_stage() -> None:
    result = EngineResult(state="running", job_id="job_x", stage="build", ok=None)
    reply = verdict_reply(result, whole=False)
    assert headline(result) == "running: job job_x, stage build"
    assert reply.structured_content == {
        "state": "running",
        "ok": None,
        "job_id": "job_x",
        "stage": "build",
    }


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=9_000), st.integers(1, 6_000))
def test_a_page_of_any_artifact_fits_both_channels_and_pages_make_up_the_whole(
    text: str, limit: int
) -> None:
    artifacts = Artifacts()
    artifact_id = artifacts.keep("local", "log", f"x{text}")
    assert artifact_id is not None
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None and len(parts) < 50:
        page = artifacts.page("local", artifact_id, offset, limit)
        shown = ArtifactPage(
            artifact_id=artifact_id,
            text=page.text,
            offset=page.offset,
            next_offset=page.next_offset,
            total=page.total,
        )
        reply = plain_reply(shown, artifact_id)
        wire = json.dumps(reply.structured_content, ensure_ascii=False)
        assert len(wire.encode()) <= 8_000
        assert len(text_of(reply).encode()) <= 8_000
        parts.append(page.text)
        offset = page.next_offset
    assert f"x{text}".startswith("".join(parts))
    assert offset is not None or "".join(parts) == f"x{text}"
