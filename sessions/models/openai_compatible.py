"""OpenAI's Responses, and chat completions for all hosts that speak them: OpenRouter, vLLM, Ollama."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from sessions.models import thinking, tools_openai
from sessions.models.failure import Failure, TryFailed, of_status
from sessions.models.network import REQUEST_LIMIT_S, Answer, Growing
from sessions.models.port import Finish, Request, Usage

if TYPE_CHECKING:
    import openai
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk
    from openai.types.completion_usage import PromptTokensDetails
    from openai.types.responses import Response, ResponseStreamEvent, ResponseUsage
    from openai.types.responses.response_usage import InputTokensDetails

    from sessions.models.port import OnText

Api = Literal["responses", "chat"]

_CHAT_FINISH = {
    "stop": Finish.STOP,
    "tool_calls": Finish.STOP,
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
}


class OpenAICompatible:
    """The vendor OpenAI, or a host that speaks its API."""

    def __init__(
        self,
        model: str,
        key: str,
        api: Api,
        base_url: str | None = None,
        *,
        openrouter: bool = False,
    ) -> None:
        """Connect at the first question. `openrouter`: that host answers, which has words of its own."""
        self._model = model
        self._openrouter = openrouter
        self.key = key
        self._api = api
        self._base_url = base_url

    async def ask(self, request: Request, on_text: OnText) -> Answer:
        """Make one streamed call."""
        import httpx2
        import openai

        try:
            if self._api == "responses":
                return await self._respond(request, on_text)
            return await self._chat(request, on_text)
        except openai.APIStatusError as error:
            raise TryFailed(_failure(error)) from None
        except openai.APITimeoutError:
            raise TryFailed(Failure("timeout", "the connection timed out")) from None
        except openai.APIConnectionError as error:
            raise TryFailed(Failure("network", f"connection lost: {error}")) from None
        except openai.APIError as error:
            raise TryFailed(_in_stream(str(error.code), error.message)) from None
        except (httpx2.HTTPError, ValueError) as error:
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
        if not self._openrouter:
            thinking.of_openai(self._model, level, own=self._own)

    @cached_property
    def _client(self) -> openai.AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            api_key=self.key, base_url=self._base_url, timeout=REQUEST_LIMIT_S, max_retries=0
        )

    @property
    def _own(self) -> bool:
        """Whether OpenAI itself answers: the hosts that follow it know fewer words."""
        return not self._base_url or "api.openai.com" in self._base_url

    @property
    def _length_word(self) -> str:
        """OpenAI itself has a new word; the hosts that follow it know the old one."""
        return "max_completion_tokens" if self._own else "max_tokens"

    def _more(self, request: Request) -> dict[str, Any]:
        """Return what both APIs take besides the prompt: sampling, and the key of prompts that begin alike."""
        more: dict[str, Any] = dict(_sampling(request))
        stable = request.prompt.parts[0]
        if self._own and request.cache and stable:
            digest = hashlib.sha256(f"{self._model}\n{stable}".encode("utf-8", "replace"))
            more["prompt_cache_key"] = digest.hexdigest()[:32]
        return more

    def _reasoning(self, request: Request) -> dict[str, Any]:
        """Return how chat completions are told to reason."""
        if self._openrouter:
            return thinking.of_openrouter(request.thinking)
        effort = thinking.of_openai(self._model, request.thinking, own=self._own)
        return {"reasoning_effort": effort} if effort else {}

    async def _respond(self, request: Request, on_text: OnText) -> Answer:
        more = self._more(request)
        effort = thinking.of_openai(self._model, request.thinking, own=self._own)
        if effort:
            more["reasoning"] = {"effort": effort}
        more |= tools_openai.respond_options(request, self._model)
        stream = await self._client.responses.create(
            model=self._model,
            input=tools_openai.respond_input(request),
            max_output_tokens=request.max_tokens,
            stream=True,
            store=False,
            extra_body=more,
        )
        said = Growing(on_text)
        async with stream:
            async for event in stream:
                if event.type == "response.output_text.delta":
                    said.add(event.delta)
                ended = _ended(event)
                if ended:
                    return _responded(ended)
        raise TryFailed(Failure("network", "the answer broke off"))

    async def _chat(self, request: Request, on_text: OnText) -> Answer:
        stream = await self._client.chat.completions.create(
            model=self._model,
            messages=tools_openai.chat_messages(request),
            stream=True,
            stream_options={"include_usage": True},
            extra_body={
                self._length_word: request.max_tokens,
                **self._more(request),
                **self._reasoning(request),
                **tools_openai.chat_options(request),
            },
        )
        whole = _Chat(on_text)
        async with stream:
            async for chunk in stream:
                whole.take(chunk)
        return whole.answer(self._model)


class _Chat:
    """A chat completion put together from its chunks."""

    def __init__(self, on_text: OnText) -> None:
        self._said = Growing(on_text)
        self._finish: Finish | None = None
        self._refused = False
        self._usage: Usage | None = None
        self._model = ""
        self._calls = tools_openai.ChatCalls()

    def take(self, chunk: ChatCompletionChunk) -> None:
        """Add a chunk."""
        self._model = chunk.model or self._model
        if chunk.usage:
            self._usage = _chat_usage(chunk.usage)
        for choice in chunk.choices[:1]:
            if choice.finish_reason:
                self._finish = _CHAT_FINISH.get(choice.finish_reason, Finish.OTHER)
            self._refused = self._refused or bool(choice.delta.refusal)
            self._said.add(choice.delta.content or "")
            self._calls.take(choice.delta)

    def answer(self, model: str) -> Answer:
        """Return the whole answer; a stream that never said why it ended broke off."""
        if self._finish is None:
            raise TryFailed(Failure("network", "the answer broke off"))
        finish = Finish.REFUSED if self._refused else self._finish
        text = self._said.text
        return Answer(text, finish, self._usage, self._model or model, self._calls.turn(text))


def _ended(event: ResponseStreamEvent) -> Response | None:
    match event.type:
        case "response.completed" | "response.incomplete" | "response.failed":
            return event.response
        case "error":
            raise TryFailed(_in_stream(str(event.code), event.message))
        case _:
            return None


def _responded(response: Response) -> Answer:
    if response.error is not None:
        raise TryFailed(_in_stream(response.error.code, response.error.message))
    usage = _response_usage(response.usage) if response.usage else None
    turn = tools_openai.respond_turn(response)
    return Answer(response.output_text, _response_finish(response), usage, response.model, turn)


def _response_finish(response: Response) -> Finish:
    why = response.incomplete_details.reason if response.incomplete_details else None
    if why is not None:
        return {"max_output_tokens": Finish.LENGTH, "content_filter": Finish.REFUSED}[why]
    refused = any(
        part.type == "refusal"
        for item in response.output
        if item.type == "message"
        for part in item.content
    )
    return Finish.REFUSED if refused else Finish.STOP


def _response_usage(used: ResponseUsage) -> Usage:
    cached, written = _cache(used.input_tokens_details)
    told = used.output_tokens_details
    thought = told.reasoning_tokens if told else None
    return Usage(used.input_tokens, cached, written, used.output_tokens, thought)


def _chat_usage(used: CompletionUsage) -> Usage:
    cached, written = _cache(used.prompt_tokens_details)
    told = used.completion_tokens_details
    thought = told.reasoning_tokens if told else None
    return Usage(used.prompt_tokens, cached, written, used.completion_tokens, thought)


def _cache(details: InputTokensDetails | PromptTokensDetails | None) -> tuple[int, int]:
    """Return the input tokens read from the cache and written to it; hosts leave out what they do not have."""
    if details is None:
        return 0, 0
    read, written = getattr(details, "cached_tokens", 0), getattr(details, "cache_write_tokens", 0)
    return int(read or 0), int(written or 0)


def _in_stream(code: str, message: str) -> Failure:
    """Return what an error within a stream means: it carries a code, no status."""
    status = 429 if "rate_limit" in code else 500
    return of_status(status, code, message, {})


def _failure(error: openai.APIStatusError) -> Failure:
    """Return what a status means, in the host's own words if it has any."""
    match error.body:
        case {"message": str(message)}:
            pass
        case _:
            message = error.message
    return of_status(error.status_code, str(error.code), message, error.response.headers)


def _sampling(request: Request) -> dict[str, float]:
    return {
        key: request.sampling[key] for key in ("temperature", "top_p") if key in request.sampling
    }
