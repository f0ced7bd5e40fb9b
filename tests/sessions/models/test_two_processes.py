"""A vendor that asks one session to wait is left alone by all sessions of the machine: two processes, one provider."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.fake_vendor import Fail, FakeVendor, Say
from tests.sessions.models.asker import VENDORS

if TYPE_CHECKING:
    from pathlib import Path

WAIT_S = 3
LIMIT_S = 120.0


def asker(folder: Path, session: str, wire: str, url: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.sessions.models.asker", str(folder), session, wire, url]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(of: subprocess.Popen[str]) -> str:
    assert of.stdout is not None
    return of.stdout.readline()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.mark.parametrize("wire", sorted(VENDORS))
@pytest.mark.timeout(300)
def test_a_rate_limit_of_one_process_holds_the_other_back(wire: str, tmp_path: Path) -> None:
    limited = Fail(429, "slow down", (("Retry-After", str(WAIT_S)),), code="rate_limit_error")
    with FakeVendor([limited, Say("first"), Say("second")]) as vendor:
        one, other = (asker(tmp_path, name, wire, vendor.url) for name in ("one", "other"))
        try:
            assert [line(one), line(other)] == ["ready\n", "ready\n"]
            go(one)
            assert line(one) == f"waiting {WAIT_S} s (rate limit)\n"
            go(other)
            said = [process.communicate(timeout=LIMIT_S)[0] for process in (one, other)]
        finally:
            one.kill()
            other.kill()
        assert sorted(said) == ["first\n", "second\n"]
        refused, *later = (asked.at for asked in vendor.asked)
    assert len(later) == 2
    # The wait begins where the answer is read, which is later than it was given here.
    assert all(at >= refused + WAIT_S - 0.1 for at in later)
