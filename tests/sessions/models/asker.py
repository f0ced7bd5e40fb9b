"""A process that asks a vendor once, for `test_two_processes`: `FOLDER SESSION WIRE URL`.

Says when it is ready, waits for a line, asks; prints each note as it comes, then the answer.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.machine_places import MachinePlaces
from sessions.models.anthropic import Anthropic
from sessions.models.google import Google
from sessions.models.limiter import Limiters
from sessions.models.network import NetworkModel
from sessions.models.openai_compatible import OpenAICompatible
from sessions.models.pricing import Pricing
from tests.fake_vendor import GOOD_KEY
from tests.sessions.models.asking import ignore, request

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.models.network import Vendor

VENDORS: dict[str, Callable[[str], Vendor]] = {
    "anthropic": lambda url: Anthropic("claude-sonnet-5-5", GOOD_KEY, url),
    "google": lambda url: Google("gemini-2.5-pro", GOOD_KEY, url),
    "responses": lambda url: OpenAICompatible("gpt-5", GOOD_KEY, "responses", f"{url}/v1"),
    "chat": lambda url: OpenAICompatible("gpt-5", GOOD_KEY, "chat", f"{url}/v1"),
}


async def main(folder: str, session: str, wire: str, url: str) -> None:
    vendor = VENDORS[wire](url)
    model = NetworkModel(
        "asked",
        "asked",
        vendor,
        pricing=Pricing("asked"),
        limiter=Limiters(MachinePlaces(Path(folder), session)).of(wire),
        key_env="THE_KEY",
    )
    vendor.load()
    print("ready", flush=True)
    sys.stdin.readline()
    reply = await model.answer(request(), ignore, lambda note: print(note, flush=True))
    print(reply.text, flush=True)
    await model.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
