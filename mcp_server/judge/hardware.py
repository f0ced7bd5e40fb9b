# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What the device is, and what it cannot do faster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

MARGIN = {"cpu": 20.0, "cuda": 2.0}
"""A cache may take bytes this many times faster than memory does."""


def write_limit(device: str, bandwidth: float) -> float:
    """Return bytes per second that nothing writes faster, from the measured bandwidth."""
    return bandwidth * MARGIN[device.split(":")[0]]


def describe(device: str) -> dict[str, Any]:
    """Return the facts of the judge's greeting."""
    if device == "cpu":
        return {"device_name": cpu_name(), "device_uuid": None, "driver": None, "cuda": None}
    properties = torch.cuda.get_device_properties(device)
    return {
        "device_name": properties.name,
        "device_uuid": str(getattr(properties, "uuid", "")) or None,
        "driver": _driver(),
        "cuda": torch.version.cuda,
    }


def cpu_name() -> str:
    """Return the processor's model name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "CPU"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"


def _driver() -> str | None:
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return None
    words = text.splitlines()[0].split()
    return next((word for word in words if word[:1].isdigit() and "." in word), None)
