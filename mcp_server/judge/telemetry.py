# pyright: reportUnknownMemberType=false
"""What the GPU says of itself while it is timed: clock, power, temperature, throttling; by NVML, through ctypes.

Nothing is claimed where NVML cannot be asked: then there are no samples, and no round is dropped for them.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_server.judge.statistics import median

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIBRARY = "libnvidia-ml.so.1"
_SM_CLOCK, _CORE_TEMPERATURE = 1, 0
_SLOWED = 0x8 | 0x20 | 0x40 | 0x80
"""Reasons that say the GPU is held back: slowdown by hardware, heat seen by software or hardware, power brake.

The power cap of software (0x4) is not among them: large products meet it all the time, on both sides alike.
"""
MOVED = 0.03
"""A clock that moved by more than this part makes its round doubtful."""
MOST_DROPPED = 1 / 3


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at the GPU."""

    sm_clock_mhz: float
    power_w: float
    temperature_c: float
    slowed: bool
    """Whether heat, hardware or a power brake held it back just then."""


class Gpu:
    """One GPU as NVML sees it."""

    def __init__(self, library: Any, handle: Any) -> None:
        self.library, self.handle = library, handle

    def sample(self) -> Sample | None:
        """Return what it is doing; None where NVML does not say."""
        clock, power, heat = (ctypes.c_uint() for _ in range(3))
        reasons = ctypes.c_ulonglong()
        asked = (
            self.library.nvmlDeviceGetClockInfo(self.handle, _SM_CLOCK, ctypes.byref(clock)),
            self.library.nvmlDeviceGetPowerUsage(self.handle, ctypes.byref(power)),
            self.library.nvmlDeviceGetTemperature(
                self.handle, _CORE_TEMPERATURE, ctypes.byref(heat)
            ),
        )
        if asked[0] != 0:
            return None
        self.library.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle, ctypes.byref(reasons))
        slowed = bool(reasons.value & _SLOWED)
        return Sample(float(clock.value), power.value / 1e3, float(heat.value), slowed)


@functools.lru_cache(maxsize=1)
def gpu() -> Gpu | None:
    """Return the one GPU that this process may use; None where NVML is not there."""
    try:
        import torch

        library = ctypes.CDLL(_LIBRARY)
        if library.nvmlInit_v2() != 0:
            return None
        handle = ctypes.c_void_p()
        name = f"GPU-{torch.cuda.get_device_properties(0).uuid}".encode()
        found = library.nvmlDeviceGetHandleByUUID(name, ctypes.byref(handle))
        if found != 0 and library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) != 0:
            return None
        return Gpu(library, handle)
    except (OSError, AttributeError, RuntimeError, AssertionError):
        return None


def look(device: str) -> Sample | None:
    """Return a sample of that device; None on a CPU."""
    if device == "cpu":
        return None
    found = gpu()
    return found.sample() if found is not None else None


def steady(samples: Sequence[Sample | None]) -> list[bool]:
    """Return for each round whether the GPU was as usual in it: clock within 3 % of the median, nothing slowed it."""
    clocks = [one.sm_clock_mhz for one in samples if one is not None]
    if not clocks:
        return [True] * len(samples)
    usual = median(clocks)
    return [
        one is None or (not one.slowed and abs(one.sm_clock_mhz - usual) <= MOVED * usual)
        for one in samples
    ]


def fields(samples: Sequence[Sample | None]) -> dict[str, Any]:
    """Return the verdict's fields of telemetry; nothing where there is none."""
    seen = [one for one in samples if one is not None]
    if not seen:
        return {}
    clocks = [one.sm_clock_mhz for one in seen]
    usual = median(clocks)
    return {
        "sm_clock_mhz": usual,
        "clock_drift_ratio": (max(clocks) - min(clocks)) / usual if usual else 0.0,
        "temperature_c": max(one.temperature_c for one in seen),
        "power_w": median([one.power_w for one in seen]),
        "throttled": any(one.slowed for one in seen),
    }
