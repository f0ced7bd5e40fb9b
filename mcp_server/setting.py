"""What the caller of the program chose: where it keeps things, what it runs candidates with, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_server.evaluate import StageLimits
from mcp_server.pool import Programs
from mcp_server.sandbox import Limits

if TYPE_CHECKING:
    from pathlib import Path

    from mcp_server.sandbox import Wanted


@dataclass(frozen=True, slots=True)
class Setting:
    """What the caller of the program chose."""

    home: Path
    python: str | None = None
    sandbox: Wanted = "best-effort"
    device: str = "auto"
    programs: Programs = field(default_factory=Programs)
    stage_limits: StageLimits = field(default_factory=StageLimits)
    limits: Limits = field(default_factory=Limits)
    """What one process tree may use."""
    executor: str = "local"
    """`local`, `ray`, or `ray://HEAD[:PORT]`: whose hosts evaluate."""
    lease_folder: Path | None = None
    """Of the lease files; the machine's own, which all users share, by default."""
    overlap: bool = True
    """Whether builds go ahead of evaluations, and correctness shares the device."""
