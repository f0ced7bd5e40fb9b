"""What this machine has for a search, and what to do about what is missing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import folder as folders
from sessions.storage import storage_of
from workbench import format as fmt
from workbench import hosts, machine
from workbench.errors import CannotGoOn
from workbench.machine import Row
from workbench.model_choice import catalog

if TYPE_CHECKING:
    from workbench.config import Settings
    from workbench.hosts import Host

LITTLE_ROOM_BYTES = 2_000_000_000


def examine(settings: Settings) -> list[Row]:
    """Look at git, keys, the state folder, and at all that the evaluator looks at."""
    return [*_evaluator(settings), _git(), _keys(settings), _state_folder(), _disk()]


def examine_here() -> list[Row]:
    """Look at git, the state folder and its disk: what no model and no evaluator is asked about."""
    return [_git(), _state_folder(), _disk()]


def hosts_elsewhere(settings: Settings) -> list[Host]:
    """Return the machines of every evaluator that the settings name beside this machine."""
    executor = settings.text("executor")
    found = hosts.of_settings(settings)
    return [*found, *(hosts.named(executor, settings) if executor not in ("", hosts.HERE) else [])]


def row_of(host: Host) -> Row:
    """Return a machine as one thing that was looked at."""
    told = [f"{p.device} {p.model} {p.free}/{p.of}" for p in host.gpus or host.places]
    told += [part for part in (host.sandbox, f"torch {host.torch}" if host.torch else "") if part]
    name = " ".join(part for part in ("evaluator", host.evaluator, host.name) if part)
    if host.problem:
        return Row(name, "warning", host.problem, "nothing is evaluated there")
    state = "warning" if host.warnings else "ok"
    return Row(name, state, ", ".join(told), "; ".join(host.warnings))


def _evaluator(settings: Settings) -> list[Row]:
    try:
        rows = machine.look(settings.text("python")).rows
    except CannotGoOn as error:
        remedy = "install pike again in this environment, torch included"
        return [Row("evaluator", "missing", str(error), remedy)]
    return [row for row in rows if row.name != "state folder"]


def _git() -> Row:
    found = shutil.which("git")
    if found is None:
        return Row("git", "missing", "no git", "install git: every attempt is kept as a commit")
    done = subprocess.run([found, "--version"], capture_output=True, timeout=20, check=False)
    return Row("git", "ok", done.stdout.decode("utf-8", "replace").strip() or found)


def _keys(settings: Settings) -> Row:
    found = catalog(settings.models).keys_found()
    if found:
        return Row("keys", "ok", ", ".join(found))
    remedy = "set a vendor's key such as ANTHROPIC_API_KEY; offline and `pike demo` need none"
    return Row("keys", "warning", "no vendor's key in the environment", remedy)


def _state_folder() -> Row:
    home = folders.root()
    try:
        folders.sessions_root().mkdir(parents=True, exist_ok=True)
        probe = home / ".probe"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        remedy = "set PIKE_HOME to a folder you may write"
        return Row("state folder", "missing", f"{home}: {error.strerror}", remedy)
    return Row("state folder", "ok", str(home))


def _disk() -> Row:
    home = folders.root()
    there = next((p for p in (home, *home.parents) if p.exists()), Path("/"))
    storage = storage_of(there)
    found = f"{storage.kind or 'unknown file system'}, {fmt.size(storage.free_bytes)} free"
    if storage.network:
        return Row("disk", "warning", found, storage.warning)
    if storage.free_bytes < LITTLE_ROOM_BYTES:
        return Row("disk", "warning", found, "make room: builds and artifacts take a few GB")
    return Row("disk", "ok", found)
