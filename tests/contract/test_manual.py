"""Every command, key and setting is in the manual."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_manual_holds_every_command_key_and_setting_as_the_program_has_them() -> None:
    done = subprocess.run(
        [sys.executable, "docs/make_manual.py", "--check"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
