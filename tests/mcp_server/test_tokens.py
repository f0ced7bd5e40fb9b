"""Tokens: kept as digests, compared whole, withdrawn by taking a line out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server import tokens
from mcp_server.errors import BadTokenFile, NotAGrant

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_token_file_opens_for_its_tokens_alone_and_holds_none_of_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tokens.jsonl"
    made: dict[str, str] = {}
    for name, scopes in (("laptop", ()), ("engine-2", ("engine", "tasks"))):
        made[name], grant = tokens.new(name, scopes)
        tokens.append(path, grant)
    verifier = tokens.Tokens(path)
    for name, token in made.items():
        found = await verifier.verify_token(token)
        assert found is not None
        assert found.client_id == name
        assert token not in path.read_text(encoding="utf-8")
        assert token not in repr(found)
    assert await verifier.verify_token(made["laptop"][:-1]) is None
    assert await verifier.verify_token("") is None
    assert path.stat().st_mode & 0o077 == 0


async def test_a_line_taken_out_closes_at_once_and_one_added_opens(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    first, grant = tokens.new("one")
    tokens.append(path, grant)
    verifier = tokens.Tokens(path)
    assert await verifier.verify_token(first) is not None
    second, added = tokens.new("two")
    path.write_text(added.line() + "\n", encoding="utf-8")
    assert await verifier.verify_token(first) is None
    assert await verifier.verify_token(second) is not None


async def test_a_file_that_is_damaged_or_gone_opens_for_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens.jsonl"
    token, grant = tokens.new("one")
    tokens.append(path, grant)
    verifier = tokens.Tokens(path)
    assert await verifier.verify_token(token) is not None
    path.write_text("{damaged", encoding="utf-8")
    assert await verifier.verify_token(token) is None
    assert "no JSON object" in caplog.text
    path.unlink()
    assert await verifier.verify_token(token) is None
    assert token not in caplog.text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "no JSON object"),
        ("{}", "digest"),
        ({"digest": "0" * 63, "client_id": "a"}, "digest"),
        ({"digest": "pike_secret", "client_id": "a"}, "never stands there"),
        ({"digest": "0" * 64, "client_id": "local"}, "client_id"),
        ({"digest": "0" * 64, "client_id": "a/../b"}, "client_id"),
        ({"digest": "0" * 64, "client_id": "a", "scopes": ["root"]}, "scope"),
        ({"digest": "0" * 64, "client_id": "a", "scopes": "engine!"}, "scope"),
    ],
)
def test_a_line_that_is_not_as_it_should_be_is_refused_by_its_number(
    tmp_path: Path, line: str | dict[str, object], said: str
) -> None:
    path = tmp_path / "tokens.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(f"\n{text}\n", encoding="utf-8")
    with pytest.raises(BadTokenFile, match=said) as refused:
        tokens.read(path)
    assert "line 2" in str(refused.value)
    assert "pike_secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["a b", "", "local", "x" * 65, "a\x1b[31m"])
def test_a_new_token_is_refused_by_the_name_that_was_typed(name: str) -> None:
    with pytest.raises(NotAGrant, match=f"^{re.escape(repr(name))} cannot name a client"):
        tokens.new(name)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    path.write_text("", encoding="utf-8")
    path.chmod(0o666)
    with pytest.raises(BadTokenFile, match="chmod"):
        tokens.read(path)


@given(st.text(max_size=100), st.text(max_size=100))
def test_only_the_same_text_has_the_same_digest(one: str, other: str) -> None:
    assert (tokens.digest(one) == tokens.digest(other)) == (one == other)


async def test_two_tokens_of_one_client_are_two_subjects_so_that_no_session_passes_between_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tokens.jsonl"
    subjects: set[str | None] = set()
    for scopes in ((), ("engine",)):
        token, grant = tokens.new("laptop", scopes)
        tokens.append(path, grant)
        found = await tokens.Tokens(path).verify_token(token)
        assert found is not None
        assert found.scopes == ["kernels", *scopes]
        subjects.add(found.subject)
    assert len(subjects) == 2
