"""A judge that lives as long as the module's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mcp_server.judge.harness import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Generator[Bench]:
    started = Bench(tmp_path_factory.mktemp("bench"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def task_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("tasks")
    known: dict[str, Path] = {}

    def write(source: str) -> Path:
        if source not in known:
            known[source] = folder / f"task{len(known)}.py"
            known[source].write_text(source, encoding="utf-8")
        return known[source]

    return write
