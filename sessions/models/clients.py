"""The model `mcp`: external agents answer, over the MCP server of `pike mcp`.

It asks nobody. A prompt waits in the journal until an agent takes it (`next_prompt`); its reply comes as the command
`reply`, which the engine takes in the transaction that ends the query (`sessions/control.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models.port import NoAnswerYet

if TYPE_CHECKING:
    from sessions.models.port import OnNote, OnText, Reply, Request
    from strategies.protocol import Prompt


class ClientsModel:
    """Answered by whoever asks for prompts."""

    name = "mcp"
    label = "mcp (external agents answer)"
    network = False
    calls_tools = False

    def estimate_usd(self, prompt: Prompt, max_tokens: int) -> float | None:
        """Return None: what an external agent pays, only it knows."""
        del prompt, max_tokens
        return None

    async def answer(self, request: Request, on_text: OnText, on_note: OnNote) -> Reply:
        """Never answer.

        Raises:
            NoAnswerYet: always.
        """
        del request, on_text, on_note
        raise NoAnswerYet("waits for an agent")

    async def close(self) -> None:
        """Release nothing."""
