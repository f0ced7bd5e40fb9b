"""What the GPU does now, for the live row: nvidia-smi's answer, or nothing."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

EVERY_S = 5.0
LIMIT_S = 3.0
_FIELDS = ("name", "utilization.gpu", "temperature.gpu", "memory.used", "memory.total")
_NAMES = ("name", "util", "temp", "mem_used", "mem_total")


async def reading(device: str) -> dict[str, Any] | None:
    """Return name, load in %, degrees Celsius, and memory in MiB; None where there is no GPU to ask."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    index = device.partition(":")[2] or "0"
    words = [f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits", f"--id={index}"]
    try:
        async with asyncio.timeout(LIMIT_S):
            return parsed(await _said(program, words))
    except (OSError, TimeoutError):
        return None


def parsed(line: str) -> dict[str, Any] | None:
    """Return nvidia-smi's line as numbers; None if it is no such line."""
    cells = [cell.strip() for cell in line.strip().split(",")]
    if len(cells) != len(_NAMES):
        return None
    return {name: _number(cell) for name, cell in zip(_NAMES, cells, strict=True)}


def _number(cell: str) -> float | str | None:
    if cell.startswith("["):  # [N/A], [Not Supported]
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


async def _said(program: str, words: list[str]) -> str:
    process = await asyncio.create_subprocess_exec(
        program, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        out, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return out.decode("utf-8", "replace")
