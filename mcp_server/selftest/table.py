"""The self-test as a Markdown table, to be kept beside what else was measured of a machine."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp_server import machine
from mcp_server.release import version

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_server.machine import Device
    from mcp_server.selftest.rows import Row

_RESULT = {True: "as expected", False: "**otherwise**", None: "skipped"}


def summary(rows: Sequence[Row]) -> str:
    """Return how many cases were judged as expected, how many otherwise, and how many were not run."""
    count = {state: sum(row.passed is state for row in rows) for state in (True, False, None)}
    return f"{count[True]} as expected, {count[False]} otherwise, {count[None]} skipped"


def write(path: Path, device: Device, rows: Sequence[Row]) -> None:
    """Write the rows with the machine that they are of."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(_lines(device, rows)) + "\n", encoding="utf-8")


def _lines(device: Device, rows: Sequence[Row]) -> list[str]:
    seconds = sum(row.seconds for row in rows)
    head = [
        f"# Self-test on {device.title}",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {device.title} (`{device.name}`), {machine.cores()} cores, "
        f"{_driver(device)}Python {platform.python_version()}, evaluator {version()}. "
        "Made by `python -m mcp_server selftest --output FILE.md`.",
        "",
        f"{summary(rows)}; {seconds:.0f} s of cases, several at a time.",
        "",
        "| case | what it is | expected | got | result | s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return head + [_line(row) for row in sorted(rows, key=lambda row: row.id)]


def _driver(device: Device) -> str:
    driver = machine.driver() if device.is_gpu else None
    return f"driver {driver}, " if driver else ""


def _line(row: Row) -> str:
    cells = (row.id, row.kind, row.expected, row.got, _RESULT[row.passed], f"{row.seconds:.1f}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
