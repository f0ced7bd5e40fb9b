"""What a judge is asked, and the keys under which what it measures is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server import facts, machine, qualify
from mcp_server.qualify import Key

if TYPE_CHECKING:
    from mcp_server.evaluate import StageLimits
    from mcp_server.executor import Work
    from mcp_server.facts import DeviceKey
    from mcp_server.link import Message
    from mcp_server.machine import Device
    from mcp_server.pool import Judge
    from mcp_server.rooms import Room


def evaluation(
    room: Room,
    judge: Judge,
    work: Work,
    limits: StageLimits,
    qualification: Message | None,
    measured: Message | None,
) -> Message:
    """Return the request to evaluate a candidate, its task put where the judge can read it.

    Args:
        room: where the judge runs.
        judge: whom it is for.
        work: the candidate, and what is wanted of it.
        limits: of the stages.
        qualification: what is known of the task, None where nothing is.
        measured: what is known of the device, None where nothing is.
    """
    path = Path("tasks", f"{work.task.sha256}.py")
    kept = judge.child.scratch / path
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(work.task.source, encoding="utf-8")
    return {
        "op": "evaluate",
        "id": work.id,
        "task_id": work.task.id,
        "task_path": str(Path(room.pool.sandbox.scratch_seen(judge.child.scratch), path)),
        "source": work.source,
        **place(room.device),
        "precision": work.precision,
        "tolerance": work.tolerance,
        "beat": work.beat,
        "mode": work.mode,
        "stages": list(work.stages),
        "qualification": qualification,
        "deadlines": limits.deadlines(work.mode),
        "agent_task": work.task.by_agent,
        "leased": work.leased,
        "facts": measured,
    }


def measurement(device: Device, job_id: str) -> Message:
    """Return the request to measure a device alone."""
    return {"op": "evaluate", "id": job_id, "task_path": "", **place(device)}


def place(device: Device) -> Message:
    """Return the device as the judge sees it: one GPU is visible."""
    return {"device": "cuda:0" if device.is_gpu else "cpu"}


def device_key(room: Room) -> DeviceKey:
    """Return the key of what is measured of a room's device."""
    return facts.key_of(room.device, room.pool.sandbox.interpreter)


def task_key(work: Work, device: Device, torch: object, driver: object) -> Key:
    """Return the key of what is measured of a task on a device, under a torch and a driver."""
    return Key(
        task_sha256=work.task.sha256,
        precision=work.precision,
        tolerance=work.tolerance,
        device_uuid=device.uuid,
        torch=str(torch),
        driver=str(driver),
        threads=machine.threads(),
        evaluator=qualify.evaluator_sha256(),
    )
