"""What the GPUs of this machine do now, by nvidia-smi; nothing where there are none."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

LIMIT_S = 3.0
_FIELDS = "index,name,utilization.gpu,temperature.gpu,memory.used,memory.total"


@dataclass(frozen=True, slots=True)
class Reading:
    """One GPU at one moment; None where it does not say."""

    index: int
    name: str
    """Without the vendor's: `H200`."""
    load_percent: float | None
    celsius: float | None
    used_mib: float | None
    total_mib: float | None

    @property
    def busy(self) -> bool:
        """Whether something works on it, or fills a tenth of its memory."""
        full = self.used_mib and self.total_mib and self.used_mib > 0.1 * self.total_mib
        return bool(full) or (self.load_percent or 0) > 10

    @property
    def told(self) -> str:
        """One line: `GPU0 H200 87 % 61 °C 41/140 GiB`."""
        load = f" {self.load_percent:.0f} %" if self.load_percent is not None else ""
        heat = f" {self.celsius:.0f} °C" if self.celsius is not None else ""
        sizes = (self.used_mib, self.total_mib)
        sizes_gib = [f"{mib / 1024:.0f}" for mib in sizes if mib is not None]
        memory = f" {'/'.join(sizes_gib)} GiB" if len(sizes_gib) == 2 else ""
        return f"GPU{self.index} {self.name}{load}{heat}{memory}"


def readings() -> list[Reading]:
    """Return what each GPU does; blocking for a moment."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    words = [program, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [found for line in lines if (found := parsed(line)) is not None]


def parsed(line: str) -> Reading | None:
    """Return one line of nvidia-smi; None if it is no such line."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != 6 or not cells[0].isdigit():
        return None
    load, heat, used, total = (_number(cell) for cell in cells[2:])
    return Reading(int(cells[0]), cells[1].removeprefix("NVIDIA "), load, heat, used, total)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:  # [N/A], [Not Supported]
        return None
