"""The protocol's own conformance suite on both revisions, and the inspector's strict reading of our schemas."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.starting import NODE, ROOT, installed

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here"),
]
CONFORMANCE = ("conformance", "@modelcontextprotocol/conformance@0.2.0-alpha.12")
INSPECTOR = ("inspector", "@modelcontextprotocol/inspector@2.12.0")
BASELINE = Path(__file__).parent / "baseline.yml"
RUN_LIMIT_S = 500


def ran(package: tuple[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program of an npm package."""
    try:
        programs = [installed(*package), installed(*NODE)]
    except subprocess.SubprocessError:
        pytest.skip(f"npm could not install {package[1]}")
    path = ":".join([*map(str, programs), os.environ["PATH"]])
    return subprocess.run(
        words, env={**os.environ, "PATH": path}, cwd=ROOT,
        capture_output=True, timeout=RUN_LIMIT_S, check=False,
    )  # fmt: skip


@pytest.fixture
def url(tmp_path: Path) -> Generator[str]:
    """The address of our server with the suite's fixtures."""
    argv = [sys.executable, "-m", "tests.clients.conformance_app", str(tmp_path)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_suite_finds_nothing_that_was_not_expected(
    url: str, revision: str, tmp_path: Path
) -> None:
    words = ["conformance", "server", "--url", url, "--spec-version", revision]
    if revision == "2025-11-25":
        words += ["--expected-failures", str(BASELINE)]
    done = ran(CONFORMANCE, *words, "--output-dir", str(tmp_path / "results"))
    assert done.returncode == 0, done.stdout.decode()[-3_000:]
    assert b"prompts-get-with-image" in done.stdout


def test_every_schema_is_portable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIKE_HOME", str(tmp_path))
    server = [str(ROOT / ".venv/bin/pike"), "mcp"]
    done = ran(INSPECTOR, "mcp-inspector", "--cli", *server, "--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stderr.decode()[-3_000:]
    assert len(json.loads(done.stdout)["tools"]) >= 10
