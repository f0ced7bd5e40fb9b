"""Google's Gemini API, streamed."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The SDK's types name packages that are not installed.

from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from sessions.models import thinking, tools_google
from sessions.models.failure import Failure, TryFailed, of_status
from sessions.models.network import REQUEST_LIMIT_S, Answer, Growing
from sessions.models.port import Finish, Request, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from google import genai
    from google.genai import errors, types

    from sessions.models.port import OnText

_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")
_FINISH = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), Finish.REFUSED
    ),
}


class Google:
    """The vendor Google, or a host that speaks its API."""

    def __init__(self, model: str, key: str, base_url: str | None = None) -> None:
        """Connect at the first question."""
        self._model = model
        self.key = key
        self._base_url = base_url

    async def ask(self, request: Request, on_text: OnText) -> Answer:
        """Make one streamed call."""
        import httpx2
        from google.genai import errors

        try:
            return await self._streamed(request, on_text)
        except errors.APIError as error:
            raise TryFailed(_failure(error)) from None
        except httpx2.TimeoutException:
            raise TryFailed(Failure("timeout", "the connection timed out")) from None
        except (httpx2.HTTPError, errors.UnknownApiResponseError) as error:
            raise TryFailed(Failure("network", f"connection lost: {error}")) from None

    async def close(self) -> None:
        """Release connections."""
        if "_client" in self.__dict__:
            await self._client.aio.aclose()

    def load(self) -> None:
        """Import the SDK."""
        _ = self._client

    def check_thinking(self, level: str) -> None:
        """Refuse what the model does not have."""
        thinking.of_google(self._model, level)

    @cached_property
    def _client(self) -> genai.Client:
        from google import genai
        from google.genai import types

        version = "v1beta" if "preview" in self._model else "v1"
        options = types.HttpOptions(
            base_url=self._base_url, api_version=version, timeout=int(REQUEST_LIMIT_S * 1000)
        )
        return genai.Client(api_key=self.key, vertexai=False, http_options=options)

    async def _streamed(self, request: Request, on_text: OnText) -> Answer:
        from google.genai import types

        thought = thinking.of_google(self._model, request.thinking)
        config = types.GenerateContentConfig(
            max_output_tokens=request.max_tokens,
            thinking_config=None if thought is None else types.ThinkingConfig(**thought),
            # The stable version of the API knows no thinking and no tools.
            http_options=types.HttpOptions(api_version="v1beta")
            if thought is not None or request.tools
            else None,
            temperature=request.sampling.get("temperature"),
            top_p=request.sampling.get("top_p"),
            **tools_google.options(request),
        )
        said = Growing(on_text)
        last, parts = _Last(), tools_google.Parts()
        chunks = await self._client.aio.models.generate_content_stream(
            model=self._model, contents=tools_google.contents(request), config=config
        )
        async with aclosing(cast("AsyncGenerator[types.GenerateContentResponse]", chunks)):
            async for chunk in chunks:
                last.take(chunk)
                parts.take(chunk)
                said.add(_text(chunk))
        return replace(last.answer(said.text, self._model), turn=parts.turn(said.text))


class _Last:
    """What the last chunks of a stream say about the whole."""

    def __init__(self) -> None:
        self._finish = ""
        self._usage: Usage | None = None
        self._model = ""

    def take(self, chunk: types.GenerateContentResponse) -> None:
        """Note the finish reason, counts and name that a chunk carries."""
        for candidate in chunk.candidates or []:
            if candidate.finish_reason is not None:
                self._finish = candidate.finish_reason.name
        if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            self._finish = "PROHIBITED_CONTENT"
        if chunk.usage_metadata:
            self._usage = _usage(chunk.usage_metadata)
        self._model = chunk.model_version or self._model

    def answer(self, text: str, model: str) -> Answer:
        """Return the whole answer; a stream that never said why it ended broke off."""
        if not self._finish:
            raise TryFailed(Failure("network", "the answer broke off"))
        finish = _FINISH.get(self._finish, Finish.OTHER)
        return Answer(text, finish, self._usage, self._model or model)


def _text(chunk: types.GenerateContentResponse) -> str:
    """Return the chunk's own words, without thoughts."""
    parts = [
        part
        for candidate in (chunk.candidates or [])[:1]
        for part in ((candidate.content.parts if candidate.content else None) or [])
    ]
    return "".join(part.text for part in parts if part.text and not part.thought)


def _usage(used: types.GenerateContentResponseUsageMetadata) -> Usage:
    """Return the counts; Gemini counts thoughts beside the answer."""
    thought = used.thoughts_token_count
    answered = (used.candidates_token_count or 0) + (thought or 0)
    cached = used.cached_content_token_count or 0
    return Usage(used.prompt_token_count or 0, cached, 0, answered, thought)


def _failure(error: errors.APIError) -> Failure:
    """Return what an error means; how long to wait stands in its body (`RetryInfo`), not in a header."""
    headers = dict(getattr(error.response, "headers", None) or {})
    delay = _DELAY.search(str(error.details))
    if delay:
        headers.setdefault("retry-after", delay[1])
    message = str(error.message or error.details)
    return of_status(int(error.code or 500), str(error.details), message, headers)
