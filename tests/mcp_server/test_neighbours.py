"""Whose process it is that has a context on the GPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mcp_server import neighbours

if TYPE_CHECKING:
    from pathlib import Path

CASES = [
    (b"/usr/bin/python3\0train.py\0", True),
    (b"/env/bin/python\0-I\0-B\0/x/mcp_server/judge/__main__.py\0--fd\0007\0", False),
    (b"bwrap\0--\0python\0/x/mcp_server/worker/program.py\0--fd\0009\0", False),
    (b"", False),
]


@pytest.mark.parametrize(("words", "expected"), CASES)
def test_a_process_is_foreign_unless_it_is_a_judge_or_a_worker(
    tmp_path: Path, words: bytes, expected: bool
) -> None:
    (tmp_path / "17").mkdir()
    (tmp_path / "17" / "cmdline").write_bytes(words)
    assert neighbours.is_foreign(17, tmp_path) is expected


def test_a_process_that_cannot_be_seen_is_not_held_against_anybody(tmp_path: Path) -> None:
    assert not neighbours.is_foreign(17, tmp_path)
    assert neighbours.is_foreign(os.getpid())


def test_without_nvml_nobody_is_named() -> None:
    assert neighbours.foreign("GPU-00000000-0000-0000-0000-000000000000") == []
