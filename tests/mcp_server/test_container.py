"""A container is recognized, and under the default profile of one the sandbox falls back and says so."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server import container

NARROW = Path(__file__).parent / "programs" / "narrow.py"
only_x86_64 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the filter has that machine's numbers"
)


@pytest.mark.parametrize(
    ("file", "text", "kind"),
    [
        ("run/.containerenv", "", "podman"),
        (".dockerenv", "", "docker"),
        ("proc/1/cgroup", "0::/kubepods/burstable/pod1/2\n", "kubernetes"),
        ("proc/1/cgroup", "12:pids:/docker/0123abcd\n", "docker"),
        ("proc/1/cgroup", "0::/init.scope\n", ""),
    ],
)
def test_a_container_is_known_by_its_files(tmp_path: Path, file: str, text: str, kind: str) -> None:
    sign = tmp_path / file
    sign.parent.mkdir(parents=True, exist_ok=True)
    sign.write_text(text, encoding="utf-8")
    assert container.kind(tmp_path, {}) == kind


def test_a_container_without_files_is_known_by_its_variables(tmp_path: Path) -> None:
    assert container.kind(tmp_path, {"APPTAINER_CONTAINER": "/x/pike.sif"}) == "apptainer"
    assert container.kind(tmp_path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}) == "kubernetes"
    assert container.kind(tmp_path, {"container": "lxc"}) == "lxc"
    assert container.kind(tmp_path, {}) == ""


def test_each_kind_has_flags_that_let_bubblewrap_work() -> None:
    assert "systempaths=unconfined" in container.remedy("docker")
    assert "unmask=ALL" in container.remedy("podman")
    assert "user namespaces" in container.remedy("lxc")


CHOOSE = """
import anyio
from mcp_server import interpreter, machine, probes
print(anyio.run(probes.choose, "best-effort", interpreter.find(None), machine.cpu()).level)
"""


def narrowed(*words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run our Python where no namespace can be made."""
    return subprocess.run(
        [sys.executable, "-I", str(NARROW), sys.executable, *words],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "PIKE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@only_x86_64
def test_where_a_profile_forbids_namespaces_the_doctor_says_which_level_is_left(
    tmp_path: Path,
) -> None:
    done = narrowed("-m", "mcp_server", "doctor", "--json", home=tmp_path)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    for level in ("bwrap", "landlock"):
        row = rows[f"sandbox {level}"]
        assert row["state"] == "warning"
        assert "candidates are not fenced in" in row["remedy"]
    assert rows["sandbox process"]["state"] == "ok"
    assert done.returncode == 0, done.stderr


@only_x86_64
def test_where_a_profile_forbids_namespaces_the_evaluator_falls_back_aloud(tmp_path: Path) -> None:
    done = narrowed("-c", CHOOSE, home=tmp_path)
    assert done.stdout == "process\n", done.stderr
    assert "candidates are not fenced in" in done.stderr


@only_x86_64
def test_where_a_profile_forbids_namespaces_strict_refuses(tmp_path: Path) -> None:
    candidate = tmp_path / "candidate.py"
    candidate.write_text("class ModelNew: pass\n", encoding="utf-8")
    words = ("evaluate", "starter/elementwise", str(candidate), "--json", "--device", "cpu")
    done = narrowed("-m", "mcp_server", *words, "--sandbox", "strict", home=tmp_path)
    assert done.returncode == 1
    assert "No sandbox works here" in done.stderr
    assert "--sandbox best-effort" in done.stderr
    assert "Traceback" not in done.stderr
