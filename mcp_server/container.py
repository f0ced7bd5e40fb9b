"""Whether this machine is a container, and what keeps a sandbox from working in it.

A hint for people only: which level is used is found out by effect, in probes.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SIGNS = (("run/.containerenv", "podman"), (".dockerenv", "docker"))
_GROUPS = (
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("containerd", "containerd"),
    ("/lxc/", "lxc"),
)
_LETS = {
    "docker": "start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined",
    "podman": "start it with --security-opt unmask=ALL",
    "kubernetes": "set seccompProfile: Unconfined and procMount: Unmasked",
}


def kind(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> str:
    """Return what made the container that this process lives in, as `podman`; empty outside one."""
    if environment.get("APPTAINER_CONTAINER") or environment.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    if environment.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    for sign, name in _SIGNS:
        if (root / sign).exists():
            return name
    return _of_groups(root) or environment.get("container", "")


def remedy(kind: str) -> str:
    """Return what lets bubblewrap work in a container of this kind."""
    return f"{_LETS.get(kind, 'allow user namespaces in it')}: docs/many-machines.md"


def _of_groups(root: Path) -> str:
    try:
        text = (root / "proc/1/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((name for word, name in _GROUPS if word in text), "")
