"""A language model vendor on loopback: a real HTTP server that speaks four APIs, and fails as told.

```
Anthropic  POST /v1/messages                              streamed
OpenAI     POST /v1/responses, /v1/chat/completions       streamed or whole
Google     POST /VERSION/models/NAME:streamGenerateContent, :generateContent
```
Each request is answered by the next act of the script; the last act repeats. `with FakeVendor([Say("hi")]) as vendor:`.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from tests import vendor_wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

Json = dict[str, Any]

GOOD_KEY = "sk-test-0123456789abcdef"
MODELS = (
    "claude-sonnet-5-5",
    "claude-haiku-4-5",
    "gpt-5",
    "gpt-5.1",
    "gpt-4.1",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-3-pro-preview",
    "house-model",
    "anthropic/claude-sonnet-5.5",
)


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with a text and counts; `fresh` are input tokens not cached."""

    text: str = "hello"
    end: str = "stop"
    """`stop`, `length`, `refused`."""
    fresh: int = 100
    cached: int = 20
    written: int = 0
    """To the cache: Anthropic counts it apart, OpenAI among the fresh ones."""
    answer: int = 40
    thought: int = 10
    usage: bool = True


@dataclass(frozen=True, slots=True)
class Write:
    """Answer with a stream written elsewhere: how tools are asked for."""

    events: tuple[Json, ...]
    end: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with a status, as the vendor words it."""

    status: int
    message: str = "try later"
    headers: tuple[tuple[str, str], ...] = ()
    code: str = "error"


@dataclass(frozen=True, slots=True)
class Hang:
    """Take the request and say nothing until the server closes."""


@dataclass(frozen=True, slots=True)
class Die:
    """Begin a streamed answer and cut the connection in the middle."""

    text: str = "half of an answer"


@dataclass(frozen=True, slots=True)
class FailInStream:
    """Begin a streamed answer with status 200, then report an error in it."""

    kind: str = "overloaded_error"


@dataclass(frozen=True, slots=True)
class BreakOff:
    """Stream a text and end in good order, without ever saying why it ended."""

    text: str = "half of an answer"


Act = Say | Write | Fail | Hang | Die | FailInStream | BreakOff


@dataclass(slots=True)
class Asked:
    """One request as it arrived."""

    path: str
    body: Json
    key: str
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class FakeVendor:
    """The server; `asked` holds what arrived."""

    script: Sequence[Act] = (Say(),)
    key: str = GOOD_KEY
    asked: list[Asked] = field(default_factory=list[Asked])
    closing: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeVendor:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.vendor = self
        self._server = server
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def next_act(self, asked: Asked) -> Act:
        """Note a request; return how to answer it."""
        with self._lock:
            self.asked.append(asked)
            return self.script[min(len(self.asked), len(self.script)) - 1]


class _Server(ThreadingHTTPServer):
    vendor: FakeVendor
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing about clients that hang up: tests make them."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    @property
    def vendor(self) -> FakeVendor:
        return cast("_Server", self.server).vendor

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body: Json = json.loads(self.rfile.read(length) or b"{}")
        path = self.path.split("?")[0]
        asked = Asked(path, body, _key(self.headers))
        act = self.vendor.next_act(asked)
        wire = _wire(path)
        if wire is None:
            self._fail(Fail(404, f"no such address: {path}"), _OpenAI("chat", {}))
            return
        self._act(act, asked, wire("" if wire is not _Gemini else path, body))

    def _act(self, act: Act, asked: Asked, wire: _Wire) -> None:
        if asked.key != self.vendor.key:
            self._fail(wire.bad_key(asked.key), wire)
        elif wire.model not in MODELS:
            self._fail(wire.unknown_model(), wire)
        elif wrong := wire.wrong():
            self._fail(Fail(400, wrong, code="invalid_request_error"), wire)
        elif isinstance(act, Say):
            self._send(wire.kind, wire.say(act))
        elif isinstance(act, Write):
            self._send(wire.kind, _events(*act.events) + act.end)
        elif isinstance(act, Fail):
            self._fail(act, wire)
        elif isinstance(act, Hang):
            self.vendor.closing.wait(30)
        else:
            self._stream(act, wire)

    def _stream(self, act: Die | FailInStream | BreakOff, wire: _Wire) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        if isinstance(act, Die):
            self.send_header("Content-Length", "1000000")
        self.end_headers()
        text = "" if isinstance(act, FailInStream) else act.text
        ending = wire.error_event(act.kind) if isinstance(act, FailInStream) else ""
        self.wfile.write((wire.begin(text) + ending).encode())
        self.wfile.flush()
        self.close_connection = True

    def _fail(self, act: Fail, wire: _Wire) -> None:
        self._send("application/json", json.dumps(wire.error(act)), act.status, act.headers)

    def _send(
        self,
        kind: str,
        text: str,
        status: int = 200,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in (*headers, ("Content-Type", kind), ("Content-Length", str(len(data)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _key(headers: Any) -> str:
    bearer = str(headers.get("Authorization", "")).removeprefix("Bearer ")
    return str(headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer)


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), 5):
        yield text[start : start + 5]


def _events(*events: Json) -> str:
    named = (f"event: {e['type']}\n" if "type" in e else "" for e in events)
    return "".join(
        f"{name}data: {json.dumps(e)}\n\n" for name, e in zip(named, events, strict=True)
    )


class _Wire:
    """How one API words its answers."""

    def __init__(self, path: str, body: Json) -> None:
        self.path = path
        self.body = body
        self.model = str(body.get("model", ""))
        self.kind = "text/event-stream"

    def say(self, act: Say) -> str:
        raise NotImplementedError

    def begin(self, text: str) -> str:
        raise NotImplementedError

    def wrong(self) -> str:
        """What the vendor would say against the request."""
        raise NotImplementedError

    def error_event(self, kind: str) -> str:
        return _events({"type": "error", "error": {"type": kind, "message": "in the stream"}})

    def error(self, act: Fail) -> Json:
        return {"error": {"message": act.message, "type": "error", "code": act.code}}

    def bad_key(self, key: str) -> Fail:
        return Fail(401, f"Incorrect API key provided: {key[:8]}***", code="invalid_api_key")

    def unknown_model(self) -> Fail:
        return Fail(404, f"The model {self.model} does not exist", code="model_not_found")


class _Messages(_Wire):
    def wrong(self) -> str:
        return vendor_wire.messages(self.body)

    def begin(self, text: str) -> str:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message: Json = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        block = {"type": "content_block_start", "index": 0, "content_block": _text_block("")}
        deltas: list[Json] = [
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            for piece in _pieces(text)
        ]
        return _events({"type": "message_start", "message": message}, block, *deltas)

    def say(self, act: Say) -> str:
        stop = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}[act.end]
        usage = {
            "input_tokens": act.fresh,
            "cache_read_input_tokens": act.cached,
            "cache_creation_input_tokens": act.written,
            "output_tokens": act.answer + act.thought,
            "output_tokens_details": {"thinking_tokens": act.thought},
        }
        delta = {"stop_reason": stop, "stop_sequence": None}
        return self.begin(act.text) + _events(
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": delta, "usage": usage},
            {"type": "message_stop"},
        )

    def error(self, act: Fail) -> Json:
        return {"type": "error", "error": {"type": act.code, "message": act.message}}


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text}


class _OpenAI(_Wire):
    """Chat completions."""

    def wrong(self) -> str:
        return vendor_wire.chat(self.body)

    def _chunk(self, delta: Json, finish: str | None = None) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return _events({**self._frame(), "choices": choices})

    def _frame(self) -> Json:
        return {
            "id": "chat_1", "created": 1, "model": self.model, "object": "chat.completion.chunk",
        }  # fmt: skip

    def begin(self, text: str) -> str:
        return "".join(self._chunk({"role": "assistant", "content": p}) for p in _pieces(text))

    def say(self, act: Say) -> str:
        finish = {"stop": "stop", "length": "length", "refused": "content_filter"}[act.end]
        usage = {
            "prompt_tokens": act.fresh + act.cached,
            "completion_tokens": act.answer + act.thought,
            "total_tokens": act.fresh + act.cached + act.answer + act.thought,
            "prompt_tokens_details": {
                "cached_tokens": act.cached,
                "cache_write_tokens": act.written,
            },
            "completion_tokens_details": {"reasoning_tokens": act.thought},
        }
        last = _events({**self._frame(), "choices": [], "usage": usage}) if act.usage else ""
        return self.begin(act.text) + self._chunk({}, finish) + last + "data: [DONE]\n\n"

    def error_event(self, kind: str) -> str:
        return _events({"error": {"code": kind, "message": "in the stream"}})


class _Responses(_Wire):
    def wrong(self) -> str:
        return vendor_wire.responses(self.body)

    def begin(self, text: str) -> str:
        created = {
            "type": "response.created",
            "sequence_number": 0,
            "response": self._whole("", {}),
        }
        deltas: list[Json] = [
            {
                "type": "response.output_text.delta", "item_id": "m", "output_index": 0,
                "content_index": 0, "delta": piece, "sequence_number": n, "logprobs": [],
            }
            for n, piece in enumerate(_pieces(text), 1)
        ]  # fmt: skip
        return _events(created, *deltas)

    def _whole(self, text: str, more: Json) -> Json:
        part: Json = {"type": "output_text", "text": text, "annotations": []}
        item: Json = {
            "type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part],
        }  # fmt: skip
        return {
            "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
            "model": self.model, "output": [item], "parallel_tool_calls": False, "tools": [],
            "tool_choice": "auto", **more,
        }  # fmt: skip

    def say(self, act: Say) -> str:
        usage = {
            "input_tokens": act.fresh + act.cached,
            "input_tokens_details": {
                "cached_tokens": act.cached,
                "cache_write_tokens": act.written,
            },
            "output_tokens": act.answer + act.thought,
            "output_tokens_details": {"reasoning_tokens": act.thought},
            "total_tokens": act.fresh + act.cached + act.answer + act.thought,
        }
        whole = self._whole(act.text, {"usage": usage} if act.usage else {})
        kind = "response.completed"
        if act.end != "stop":
            why = {"length": "max_output_tokens", "refused": "content_filter"}[act.end]
            kind = "response.incomplete"
            whole |= {"status": "incomplete", "incomplete_details": {"reason": why}}
        ended = {"type": kind, "sequence_number": 9999, "response": whole}
        return self.begin(act.text) + _events(ended)

    def error_event(self, kind: str) -> str:
        error = {"code": "server_error", "message": f"{kind} in the stream"}
        whole = self._whole("", {"status": "failed", "error": error})
        return _events({"type": "response.failed", "sequence_number": 3, "response": whole})


class _Gemini(_Wire):
    def __init__(self, path: str, body: Json) -> None:
        super().__init__(path, body)
        self.model = path.rsplit("/", 1)[-1].split(":")[0]
        self.streamed = "stream" in path
        self.kind = "text/event-stream" if self.streamed else "application/json"

    def wrong(self) -> str:
        return vendor_wire.gemini(self.path, self.model, self.body)

    def _chunk(self, text: str, more: Json | None = None) -> Json:
        content = {"role": "model", "parts": [{"text": text}] if text else []}
        return {"candidates": [{"index": 0, "content": content, **(more or {})}]}

    def begin(self, text: str) -> str:
        thought = {"role": "model", "parts": [{"text": "let me think", "thought": True}]}
        first: Json = {"candidates": [{"index": 0, "content": thought}]}
        return _events(first, *(self._chunk(piece) for piece in _pieces(text)))

    def say(self, act: Say) -> str:
        finish = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[act.end]
        usage = {
            "promptTokenCount": act.fresh + act.cached,
            "cachedContentTokenCount": act.cached,
            "candidatesTokenCount": act.answer,
            "thoughtsTokenCount": act.thought,
            "totalTokenCount": act.fresh + act.cached + act.answer + act.thought,
        }
        counted = {"usageMetadata": usage} if act.usage else {}
        last = {**self._chunk("", {"finishReason": finish}), **counted, "modelVersion": self.model}
        if self.streamed:
            return self.begin(act.text) + _events(last)
        return json.dumps({**self._chunk(act.text, {"finishReason": finish}), **counted})

    def error_event(self, kind: str) -> str:
        error = {"code": 503, "status": "UNAVAILABLE", "message": f"{kind} in the stream"}
        return f"{json.dumps({'error': error})}\n\n"

    def error(self, act: Fail) -> Json:
        error: Json = {"code": act.status, "status": act.code, "message": act.message}
        wait = dict(act.headers).get("Retry-After")
        if wait:  # Google says it here
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{wait}s"}]
        return {"error": error}

    def bad_key(self, key: str) -> Fail:
        del key
        return Fail(400, "API key not valid. Please pass a valid API key.", code="INVALID_ARGUMENT")


def _wire(path: str) -> type[_Wire] | None:
    if "/models/" in path:
        return _Gemini
    ends = {"/messages": _Messages, "/responses": _Responses, "/chat/completions": _OpenAI}
    return next((wire for end, wire in ends.items() if path.endswith(end)), None)
