"""A scripted language model on loopback: asks for the tools of its script one after the other, then is done.

Each request is answered from the request alone: with n results in it that are no pending jobs, step n is called. A
pending job is waited for, as any agent would.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from tests.clients.wire import Asked, Event, Json, Turn, spoken_at

SERVER = "kernels"
_PENDING = re.compile(r"""state[\\"' ]*[:=][\\"' ]*(?:queued|running)""")
_MOST_CALLS = 12
THINKING_S = 1.0
"""No model answers at once; a client that is told so ends before its cancellation is on the wire."""


@dataclass(frozen=True)
class Step:
    """One call; an argument `"$name"` takes the last `name: value` of earlier results."""

    tool: str
    arguments: Json


@dataclass
class Script:
    """What the model asks for, and what it was shown."""

    steps: list[Step]
    shown: Asked = field(default_factory=lambda: Asked([], []))

    def turn(self, asked: Asked) -> Turn:
        """Return what to say next."""
        number = len(asked.results)
        if asked.offered and number >= len(self.shown.results):
            self.shown = asked
        step = self._next(asked.results)
        if step is None:
            return Turn(number)
        name = _offered_as(step.tool, asked.offered)
        if name is None:
            return Turn(number, words="The tool is not on offer.")
        return Turn(number, name, filled(step.arguments, asked.results))

    def _next(self, results: list[Any]) -> Step | None:
        pending = [_is_pending(json.dumps(result)) for result in results]
        if pending and pending[-1] and len(pending) <= _MOST_CALLS:
            wait_s = 40 - len(
                pending
            )  # never the same call twice: some clients take that for a loop
            return Step("wait_job", {"job_id": "$job_id", "wait_s": wait_s})
        over = pending.count(False)
        return self.steps[over] if over < len(self.steps) else None


def _is_pending(result: str) -> bool:
    """Return whether a result is a job's that is not over; a session has a state, too, but no job."""
    return "job_id" in result and bool(_PENDING.search(result))


def _offered_as(tool: str, offered: list[str]) -> str | None:
    """Return a tool's name as a client shows it: bare, or with the server's name in front."""
    hits = [n for n in offered if n == tool or (SERVER in n and n.endswith(f"_{tool}"))]
    return min(hits, key=len, default=None)


def filled(value: Any, results: list[Any]) -> Any:
    """Replace `"$name"` by the last `name: value` in earlier results."""
    if isinstance(value, dict):
        return {key: filled(item, results) for key, item in cast("Json", value).items()}
    if isinstance(value, str) and re.fullmatch(r"\$\w+", value):
        found = re.findall(rf"""{value[1:]}[\\"' ]*[:=][\\"' ]*([\w.:-]*\w)""", json.dumps(results))
        return found[-1] if found else value
    return value


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
        known = self.path.partition("?")[0] == "/v1/models"
        self._reply("application/json", json.dumps(listed if known else {}), 200 if known else 404)

    def do_POST(self) -> None:
        path, body = self.path.partition("?")[0], self._body()
        if path.endswith(("count_tokens", ":countTokens")):
            self._reply("application/json", json.dumps({"input_tokens": 10, "totalTokens": 10}))
            return
        spoken = spoken_at(path)
        if spoken is None:
            self._reply("application/json", "{}", 404)
            return
        turn = self.script.turn(spoken.read(body))
        time.sleep(THINKING_S)
        if body.get("stream") or ":stream" in path:
            self._reply("text/event-stream", "".join(map(_event, spoken.stream(body, turn))))
        else:
            self._reply("application/json", json.dumps(spoken.whole(body, turn)))

    def _body(self) -> Json:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        data = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return json.loads(data)

    def _reply(self, kind: str, words: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(words.encode())))
        self.end_headers()
        self.wfile.write(words.encode())


def _event(event: Event) -> str:
    name, data = event
    words = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "") + f"data: {words}\n\n"


def listening(script: Script) -> ThreadingHTTPServer:
    """Return a server on a free port of loopback that plays a script; serve it in a thread."""
    handler = type("Handler", (_Handler,), {"script": script})
    return ThreadingHTTPServer(("127.0.0.1", 0), handler)
