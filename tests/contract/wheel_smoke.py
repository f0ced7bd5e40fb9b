"""Builds the wheel and uses it in a clean environment: help, tasks, an MCP handshake, the demo. `make wheel`.

The environment holds the wheel alone; its dependencies are borrowed from the developer's by a `.pth` file, which does
not carry the editable install along, so that nothing but the wheel can answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "smoke", "version": "1"},
    },
}


def main() -> None:
    """Build, install, use; exits with the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        wheel = build_wheel(base / "dist")
        check_contents(wheel)
        python = clean_environment(base / "env", wheel)
        use(python, base)
    print("wheel: builds, holds what it should, and works in a clean environment", file=sys.stderr)


def build_wheel(folder: Path) -> Path:
    """Return the wheel built from this tree, without network."""
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "."])
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Fail if tests are shipped, or data is not."""
    names = zipfile.ZipFile(wheel).namelist()
    shipped_tests = [n for n in names if n.startswith("tests/")]
    assert not shipped_tests, f"tests are in the wheel: {shipped_tests[:3]}"
    for needed in (
        "mcp_server/starter/softmax.py",
        "strategies/prompts/start.md",
        "sessions/schema.sql",
        "sessions/recorded/index.json",
        "mcp_server/worker/program.py",
    ):
        assert needed in names, f"{needed} is not in the wheel"
    assert any(n.startswith("workbench/styles/") and n.endswith(".tcss") for n in names)


def clean_environment(folder: Path, wheel: Path) -> Path:
    """Return the interpreter of a new environment that holds the wheel."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(
        run(
            [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
        ).strip()
    )
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    return python


def use(python: Path, base: Path) -> None:
    """Run what a person runs first, in an empty folder with an empty home."""
    empty = base / "empty"
    empty.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(base / "home"),
        "PIKE_HOME": str(base / "pike"),
        "LANG": "C.UTF-8",
    }
    (base / "home").mkdir()
    pike = [str(python), "-m", "workbench"]
    assert "usage" in run([*pike, "--help"], cwd=empty, env=env).lower()
    where = run(
        [str(python), "-c", "import workbench; print(workbench.__file__)"], cwd=empty, env=env
    )
    assert str(base) in where, f"not the wheel's code: {where}"
    tasks = {row["id"] for row in json.loads(run([*pike, "tasks", "--json"], cwd=empty, env=env))}
    assert {"starter/softmax", "starter/scan"} <= tasks, tasks
    answer = run([*pike, "mcp"], cwd=empty, env=env, stdin=json.dumps(HANDSHAKE) + "\n")
    assert "serverInfo" in answer, answer
    print("wheel: running the demo (a few minutes)", file=sys.stderr)
    said = run([*pike, "demo", "--plain"], cwd=empty, env=env, limit_s=1200)
    assert "faster" in said, said


def run(
    argv: list[str],
    *,
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    stdin: str = "",
    limit_s: int = 180,
) -> str:
    """Return what a command printed; exit with its whole output if it failed."""
    done = subprocess.run(
        argv, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=limit_s
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(argv)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
