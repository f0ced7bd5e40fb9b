"""`pike mcp`: the evaluator's server on stdio. The one place where the workbench imports the evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from mcp_server.app import Setting, serve_stdio
from sessions import folder as folders

if TYPE_CHECKING:
    from workbench.config import Settings


def serve(settings: Settings, *, engine: bool) -> None:
    """Serve until the client is gone.

    `engine`: offer `evaluate_kernel` too.
    """
    setting = Setting(
        home=folders.root(),
        python=settings.text("python") or None,
        sandbox="strict" if settings.text("sandbox") == "strict" else "best-effort",
        device=settings.text("device"),
    )

    async def run() -> None:
        await serve_stdio(setting, engine=engine)

    anyio.run(run)
