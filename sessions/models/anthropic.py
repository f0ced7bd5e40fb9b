"""Anthropic's Messages, always streamed: long answers need it, and a person sees them grow."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sessions.models import thinking, tools_anthropic
from sessions.models.failure import Failure, TryFailed, of_status
from sessions.models.network import REQUEST_LIMIT_S, Answer, Growing
from sessions.models.port import Finish, Request, Usage

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import Message, TextBlockParam

    from sessions.models.port import OnText

_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSED,
}
_MID_STREAM = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "timeout_error": 408,
    "api_error": 500,
    "overloaded_error": 529,
}


class Anthropic:
    """The vendor Anthropic, or a host that speaks its API."""

    def __init__(self, model: str, key: str, base_url: str | None = None) -> None:
        """Connect at the first question."""
        self._model = model
        self.key = key
        self._base_url = base_url

    async def ask(self, request: Request, on_text: OnText) -> Answer:
        """Make one streamed call; the SDK takes no temperature and no top_p."""
        import anthropic
        import httpx2

        try:
            return _answer(await self._streamed(request, on_text))
        except anthropic.APIStatusError as error:
            raise TryFailed(_failure(error)) from None
        except anthropic.APITimeoutError:
            raise TryFailed(Failure("timeout", "the connection timed out")) from None
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise TryFailed(Failure("network", f"connection lost: {error}")) from None

    async def close(self) -> None:
        """Release connections."""
        if "_client" in self.__dict__:
            await self._client.close()

    def load(self) -> None:
        """Import the SDK."""
        _ = self._client

    def check_thinking(self, level: str) -> None:
        """Refuse what the model does not have."""
        thinking.of_anthropic(self._model, level, 0)

    @cached_property
    def _client(self) -> anthropic.AsyncAnthropic:
        import anthropic

        return anthropic.AsyncAnthropic(
            api_key=self.key, base_url=self._base_url, timeout=REQUEST_LIMIT_S, max_retries=0
        )

    async def _streamed(self, request: Request, on_text: OnText) -> Message:
        said = Growing(on_text)
        async with self._client.messages.stream(
            model=self._model,
            messages=tools_anthropic.messages(request, _content(request)),
            **tools_anthropic.options(request),
            **thinking.of_anthropic(self._model, request.thinking, request.max_tokens),
        ) as stream:
            async for piece in stream.text_stream:
                said.add(piece)
            return await stream.get_final_message()


def _content(request: Request) -> str | list[TextBlockParam]:
    """Return the prompt; its stable beginning is marked to be kept, five minutes from its last use."""
    stable, rest = request.prompt.parts
    if not (request.cache and stable):
        return request.prompt.text
    return [
        {"type": "text", "text": stable, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": rest},
    ]


def _answer(message: Message) -> Answer:
    if message.stop_reason is None:
        raise TryFailed(Failure("network", "the answer broke off"))
    text = "".join(block.text for block in message.content if block.type == "text")
    finish = _FINISH.get(message.stop_reason, Finish.OTHER)
    return Answer(text, finish, _usage(message), message.model, turn=tools_anthropic.turn(message))


def _usage(message: Message) -> Usage:
    """Return the counts; Anthropic's input tokens come without the cached ones."""
    used = message.usage
    read, written = used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0
    told = used.output_tokens_details
    return Usage(
        used.input_tokens + read + written,
        read,
        written,
        used.output_tokens,
        told.thinking_tokens if told else None,
    )


def _failure(error: anthropic.APIStatusError) -> Failure:
    """Return what a status means; errors within a stream carry their kind in the body only."""
    status = error.status_code
    if status < 400:
        kind = next((kind for kind in _MID_STREAM if kind in str(error.body)), "api_error")
        status = _MID_STREAM[kind]
    return of_status(status, *_words(error), error.response.headers)


def _words(error: anthropic.APIStatusError) -> tuple[str, str]:
    """Return the vendor's own kind and message, else what the SDK made of the body."""
    match error.body:
        case {"error": {"type": str(kind), "message": str(message)}}:
            return kind, message
        case _:
            return "", error.message
