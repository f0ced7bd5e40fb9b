"""Evidence bundles and claims: what is refused, and what a second measurement says of the first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mcp_server import bundle, replay
from mcp_server.bundle import Evidence, NotABundle
from mcp_server.contract import Status, Verdict

if TYPE_CHECKING:
    from pathlib import Path

TASK, CANDIDATE = "class Model: pass\n", "class ModelNew: pass  # ü\n"
RAW: dict[str, Any] = {"seed": 7, "timings": [{"rounds_s": [[1.0, 0.5, 0.5, 1.0]]}]}


def verdict(ratio: float, half: float, **fields: Any) -> Verdict:
    facts: dict[str, Any] = {
        "status": Status.OK,
        "device_name": "NVIDIA H200",
        "baseline": "compile",
        "outcome": "faster",
        "speedup_ratio": ratio,
        "speedup_lo_ratio": ratio - half,
        "speedup_hi_ratio": ratio + half,
        "speedup_eager_ratio": 2 * ratio,
        "speedup_eager_lo_ratio": 2 * (ratio - half),
        "speedup_eager_hi_ratio": 2 * (ratio + half),
        "noise_floor_ratio": 0.002,
    }
    return Verdict.model_validate({**facts, **fields})


def written(folder: Path, **changes: Any) -> Path:
    names = {
        "task_sha256": bundle.text_digest(TASK),
        "candidate_sha256": bundle.text_digest(CANDIDATE),
        "evidence_sha256": bundle.digest(RAW),
    }
    held = verdict(1.5, 0.02, **{**names, **changes}).model_dump(mode="json")
    path = folder / "best.bundle.json"
    path.write_text(bundle.make("local/x", TASK, CANDIDATE, held, RAW), encoding="utf-8")
    return path


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = bundle.read(written(tmp_path))
    assert (found.task_id, found.task_source, found.candidate) == ("local/x", TASK, CANDIDATE)
    assert found.verdict.speedup_ratio == 1.5
    assert found.evidence == RAW


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"speedup_ratio": 1.5', '"speedup_ratio": 2.5'),
        ("class ModelNew: pass", "class ModelNew: gone"),
        ("class Model: pass", "class Model: easy"),
        ('"seed": 7', '"seed": 8'),
    ],
)
def test_a_bundle_that_was_changed_is_refused(tmp_path: Path, old: str, new: str) -> None:
    path = written(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(NotABundle, match="changed"):
        bundle.read(path)


@pytest.mark.parametrize("part", ["task", "candidate", "evidence"])
def test_a_part_that_its_verdict_is_not_about_is_refused_whatever_the_outer_hash(
    tmp_path: Path, part: str
) -> None:
    path = written(tmp_path, **{f"{part}_sha256": "0" * 64})
    with pytest.raises(NotABundle, match=f"its {part} is not the one"):
        bundle.read(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"bundle": 1}', "{" * 5000, "\x00"])
def test_what_is_no_bundle_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NotABundle, match="no evidence bundle"):
        bundle.read(path)


def test_evidence_is_kept_under_its_hash_and_read_back(tmp_path: Path) -> None:
    kept = Evidence(tmp_path)
    name = kept.keep(RAW)
    assert name == bundle.digest(RAW)
    assert Evidence(tmp_path).get(name) == RAW
    for other in ("0" * 64, "../../etc/passwd", "", None):
        assert kept.get(other) == {}


CLAIMS: list[tuple[str, Verdict, str]] = [
    ("the same again", verdict(1.49, 0.03), "stands"),
    ("faster still", verdict(1.9, 0.03), "stands"),
    ("slower than claimed", verdict(1.3, 0.03), "does not stand"),
    ("no longer faster", verdict(1.0, 0.01, outcome="indistinguishable"), "does not stand"),
    ("too noisy to tell", verdict(1.2, 0.4, outcome="indistinguishable"), "stands"),
    ("another GPU", verdict(1.5, 0.02, device_name="NVIDIA H100"), "cannot be compared"),
    ("wrong here", Verdict(status=Status.WRONG_RESULT, code="values"), "does not stand"),
    ("no machine", Verdict(status=Status.INFRA_ERROR, code="unstable_clock"), "cannot be compared"),
    ("another baseline won", verdict(1.1, 0.02, baseline="tf32_compile"), "does not stand"),
]


@pytest.mark.parametrize(("name", "now", "expected"), CLAIMS, ids=[row[0] for row in CLAIMS])
def test_a_claim_stands_falls_or_cannot_be_compared(name: str, now: Verdict, expected: str) -> None:
    found = replay.judged(verdict(1.5, 0.02), now)
    assert found.claim == expected, (name, found.line)


def test_both_intervals_stand_in_the_line() -> None:
    line = replay.judged(verdict(1.5, 0.02), verdict(1.48, 0.03)).line
    assert "1.5× (1.48–1.52) over compile in the bundle" in line
    assert "1.48× (1.45–1.51) over compile measured now" in line


def test_a_bundle_without_a_speedup_has_no_claim() -> None:
    claimed = Verdict(status=Status.OK)
    assert replay.judged(claimed, verdict(1.5, 0.02)).claim == "cannot be compared"


def test_a_bundle_is_plain_ascii_json(tmp_path: Path) -> None:
    text = written(tmp_path).read_text(encoding="utf-8")
    assert text.isascii()
    assert json.loads(text)["bundle"] == bundle.VERSION
