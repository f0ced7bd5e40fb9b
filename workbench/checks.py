"""What stands ready for one session, or does not, and what to do: device, keys, compiler, sandbox, state folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from workbench import doctor, gpus, hosts, machine, model_choice
from workbench.errors import WorkbenchError
from workbench.format import plural
from workbench.kept_models import each
from workbench.machine import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbench.config import Settings
    from workbench.machine import Machine

BUSY = ("running", "pausing")


def checks(found: Machine, settings: Settings, sessions: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return what was looked at for a session with these settings; a refusal is a row too.

    `found`: what the evaluator sees. `sessions`: rows of `sessions.summary`, for who else uses the device.
    """
    if found is machine.ELSEWHERE:
        return [_elsewhere(settings), _keys(settings), *doctor.examine_here()]
    needed = [row for row in found.rows if row.state == "missing"]
    return [
        *needed,
        *_device(found, settings, sessions),
        _keys(settings),
        _sandbox(found, settings),
        *doctor.examine_here(),
    ]


def _elsewhere(settings: Settings) -> Row:
    executor = settings.text("executor")
    names = ", ".join(settings.evaluators) if executor == hosts.HERE else executor
    return Row("evaluator", "ok", f"elsewhere: {names}")


def _device(found: Machine, settings: Settings, sessions: Iterable[Mapping[str, Any]]) -> list[Row]:
    try:
        device = machine.device(found, settings.text("device"))
    except WorkbenchError as error:
        return [Row("device", "missing", str(error))]
    others = [str(r["id"]) for r in sessions if r.get("device") == device and r["state"] in BUSY]
    return [_free(found, device, others), _compiler(found, device)]


def _free(found: Machine, device: str, others: list[str]) -> Row:
    """Say whether anything else uses the device: timings then wait for each other, or spread."""
    name, use = (device, _load()) if device == "cpu" else _gpu(found, device)
    if others:
        told = f"{name}: {', '.join(others[:3])} {'runs' if len(others) == 1 else 'run'} on it"
        return Row("device", "warning", told, "evaluations take turns, so both are slower")
    if use:
        remedy = "measured speedups spread more, and evaluations take longer"
        return Row("device", "warning", f"{name} is busy: {use}", remedy)
    return Row("device", "ok", f"{name} free")


def _load() -> str:
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    return f"load {load:.1f} on {plural(cores, 'core')}" if load > 0.5 * cores else ""


def _gpu(found: Machine, device: str) -> tuple[str, str]:
    """Return the GPU's name, and what shows that it is busy."""
    index = int(device.partition(":")[2] or 0)
    reading = next((r for r in gpus.readings() if r.index == index), None)
    if reading is None:
        return f"{device} {found.row(device).found.partition(',')[0]}".strip(), ""
    return f"{device} {reading.name}", reading.told if reading.busy else ""


def _compiler(found: Machine, device: str) -> Row:
    lacking = machine.lacking(found, device)
    if lacking:
        return Row("compiler", "warning", lacking.rstrip("."))
    names = ("c++",) if device == "cpu" else ("nvcc", "c++")
    return Row("compiler", "ok", _short(found.row(names[0]).found))


def _short(told: str) -> str:
    """Return a compiler's name and version, without its folder and distribution: `nvcc 12.6`."""
    words = told.split()
    return f"{words[0].rsplit('/', 1)[-1]} {words[-1]}" if len(words) > 1 else told


def _keys(settings: Settings) -> Row:
    try:
        choice = model_choice.choose(settings)
    except WorkbenchError as error:
        return Row("models", "missing", str(error))
    names = (choice.labels.get(name, name) for name in each(choice.models))
    return Row("models", "ok", ", ".join(dict.fromkeys(names)))


def _sandbox(found: Machine, settings: Settings) -> Row:
    try:
        fence = machine.check_sandbox(found, settings.text("sandbox"))
    except WorkbenchError as error:
        return Row("sandbox", "missing", str(error))
    return Row("sandbox", "warning", fence.rstrip(".")) if fence else Row("sandbox", "ok", "bwrap")
