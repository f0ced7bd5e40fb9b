"""The escape tests once more, by a user without rights: bubblewrap then lives on user namespaces alone."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.mcp_server.conftest import needs_bwrap

ROOT = Path(__file__).parents[2]
NOBODY = 65534
BECOME = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def _python() -> str | None:
    """Return an interpreter of our version that every user may start, or None."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for name in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if Path(name).exists():
            # Twice: setpriv itself still may what root may, what it starts may not.
            again = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"
            done = subprocess.run([*BECOME, name, "-c", again], capture_output=True, check=False)
            if done.returncode == 0:
                return name
    return None


def _environment(folder: Path, python: str) -> list[str]:
    """Make an environment of the user's that sees our packages; return how to start its interpreter."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    home = folder / "env" / "lib" / Path(os.path.realpath(python)).name / "site-packages"
    if not home.is_dir():
        home = next((folder / "env" / "lib").glob("python*")) / "site-packages"
    (home / "ours.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            os.chown(path, NOBODY, NOBODY)
    return [*BECOME, str(folder / "env" / "bin" / "python")]


@needs_bwrap
@pytest.mark.skipif(os.getuid() != 0, reason="this whole run is by an ordinary user already")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
@pytest.mark.timeout(300)
def test_an_ordinary_users_candidates_escape_no_more_than_roots() -> None:
    python = _python()
    if python is None:
        pytest.skip("no interpreter of this version that an ordinary user may start")
    # Not under tmp_path, whose parents are root's alone.
    with tempfile.TemporaryDirectory(prefix="pike-user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        start = _environment(folder, python)
        words = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"--basetemp={folder}/t"]
        values = {"HOME": name, "TMPDIR": name, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [*start, "-B", *words, str(ROOT / "tests" / "mcp_server" / "test_sandbox.py")],
            cwd=ROOT,
            env=values,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        assert " passed" in done.stdout
        assert "skipped" not in done.stdout
