"""Drives a real MCP client, unchanged, against `pike mcp`: a scripted model in place of the language model.

    python -m tests.clients.driver CLIENT [--tool-limit S] [--client-env N=V] -- TOOL 'JSON' [TOOL 'JSON']…

Prints JSON: what the client offered the model, and of each call what passed on the wire and what the model was shown.
The client has a home folder of its own, a key that is none, and settings that `pike mcp install --write` made.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.clients.http_server import serving
from tests.clients.model import SERVER, Script, Step, listening
from tests.clients.starting import (
    NODE,
    PACKAGES,
    Place,
    Start,
    configure,
    installed,
    node,
    start_of,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from tests.clients.wire import Json

RUN_LIMIT_S = 500
_GONE_LIMIT_S = 15.0
_ALONE = "PIKE_CLIENTS_ALONE"
"""Set once the driver runs without a network."""


@contextmanager
def playing(script: Script) -> Generator[str]:
    """Yield the address of a model that plays a script."""
    with listening(script) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def drive(
    client: str, steps: Sequence[Step], place: Place,
    tool_limit_s: int | None = None, more: dict[str, str] | None = None,
) -> Json:  # fmt: skip
    """Run a client once and return what happened; it is installed."""
    programs = installed(client, PACKAGES[client])
    place.prepare()
    script = Script(list(steps))
    with playing(script) as url:
        start = start_of(client, url)
        configure(client, place, start, tool_limit_s)
        code = _run(start.argv, _environment(programs, place, start) | (more or {}), place)
    gone_s = _gone(place)
    return {"client": client, "exit": code, "gone_s": gone_s, **report(place, script)}


def _environment(programs: Path, place: Place, start: Start) -> dict[str, str]:
    path = f"{programs}:{node()}:/usr/local/bin:/usr/bin:/bin"
    plain = {"HOME": str(place.home), "PATH": path, "TERM": "dumb", "LANG": "C.UTF-8"}
    return {**plain, "NO_COLOR": "1", "TMPDIR": str(place.folder), **start.environment}


def drive_over_http(client: str, steps: Sequence[Step], place: Place) -> Json:
    """Run a client once against a server over HTTP, its token in the environment; what passed is not noted."""
    programs = installed(client, PACKAGES[client])
    place.prepare()
    script = Script(list(steps))
    with playing(script) as model, serving(place.folder, place.state) as (url, token):
        start = start_of(client, model)
        configure(client, place, start, url=url)
        environment = {**_environment(programs, place, start), "PIKE_MCP_TOKEN": token}
        code = _run(start.argv, environment, place)
        kept = [
            p for p in place.home.rglob("*") if p.is_file() and token.encode() in p.read_bytes()
        ]
    calls = [{"tool": "", "text": flat(result)} for result in script.shown.results]
    offered = [name for name in script.shown.offered if SERVER in name]
    told = {"client": client, "exit": code, "gone_s": _gone(place), "offered": offered}
    return {**told, "calls": calls, "kept": [str(path) for path in kept]}


def _gone(place: Place) -> float | None:
    """Return within how many seconds nothing of the run lives any more; None if something goes on."""
    began = time.monotonic()
    while time.monotonic() - began < _GONE_LIMIT_S:
        if not _living(str(place.folder).encode()):
            return round(time.monotonic() - began, 2)
        time.sleep(0.05)
    return None


def _living(word: bytes) -> list[bytes]:
    """Return the commands of the processes that name the run's folder; server, judge and workers all do."""
    found: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes()
            if int(path.name) != os.getpid() and word in command + (path / "environ").read_bytes():
                found.append(command)
    return found


def _run(argv: Sequence[str], environment: dict[str, str], place: Place) -> int:
    with (
        (place.folder / "client.out").open("wb") as out,
        (place.folder / "client.err").open("wb") as err,
    ):
        process = subprocess.Popen(
            argv, env=environment, cwd=place.folder / "project", stdin=subprocess.DEVNULL,
            stdout=out, stderr=err, start_new_session=True,
        )  # fmt: skip
        try:
            return process.wait(RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return process.wait()


def report(place: Place, script: Script) -> Json:
    """Return what the model was offered and shown, beside what passed on the wire."""
    asked = place.traffic("to-server")
    answers = {str(m["id"]): m for m in place.traffic("to-client") if "id" in m}
    withdrawn = [
        str(m["params"].get("requestId"))
        for m in asked
        if m.get("method") == "notifications/cancelled"
    ]
    calls: list[Json] = []
    for number, call in enumerate(m for m in asked if m.get("method") == "tools/call"):
        answer = answers.get(str(call["id"]), {}).get("result")
        seen = script.shown.results[number] if number < len(script.shown.results) else None
        cancelled = answer is None and str(call["id"]) in withdrawn
        told = {"tool": call["params"].get("name"), "wire": answer, "cancelled": cancelled}
        calls.append({**told, "text": flat(seen) if seen else ""})
    offered = [name for name in script.shown.offered if SERVER in name]
    return {"offered": offered, "protocol": _protocol(asked), "calls": calls}


def _protocol(asked: list[Json]) -> str | None:
    found = re.findall(r'rotocolVersion": "([\d-]{10})"', json.dumps(asked))
    return found[0] if found else None


def flat(item: Any) -> str:
    """Return the words of a tool's result as the model read them."""
    if isinstance(item, dict):
        named = cast("Json", item)
        keys = ("text", "content", "output", "response", "error")
        return "\n".join(flat(named[key]) for key in keys if key in named)
    if isinstance(item, list):
        return "\n".join(map(flat, cast("list[Any]", item)))
    return str(item)


def alone(argv: Sequence[str]) -> list[str]:
    """Return a command that runs with loopback alone, where this machine allows it."""
    unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
    if shutil.which("unshare") is None:
        return list(argv)
    works = subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    return [*unshare, *argv] if works else list(argv)


def _raise_loopback() -> None:
    with socket.socket() as any_socket, suppress(OSError):
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def main() -> int:
    """Drive a client as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=sorted(PACKAGES))
    parser.add_argument("--tool-limit", type=int)
    parser.add_argument("--client-env", action="append", default=[])
    parser.add_argument("--http", action="store_true", help="over HTTP, not stdio")
    parser.add_argument("--state", type=Path, help="PIKE_HOME of the server")
    parser.add_argument("--outlived", action="store_true", help="engines may outlive the run")
    parser.add_argument("--keep", type=Path, help="where the run's folder is copied")
    parser.add_argument("steps", nargs="+", metavar="TOOL JSON")
    typed = parser.parse_args()
    if _ALONE not in os.environ:  # npm needs the network, the client must not have it
        installed(*NODE)
        installed(typed.client, PACKAGES[typed.client])
        argv = alone([sys.executable, "-m", "tests.clients.driver", *sys.argv[1:]])
        os.execvpe(argv[0], argv, {**os.environ, _ALONE: "1"})
    _raise_loopback()
    words = typed.steps
    steps = [
        Step(tool, json.loads(args)) for tool, args in zip(words[::2], words[1::2], strict=True)
    ]
    more = dict(pair.split("=", 1) for pair in typed.client_env)
    with tempfile.TemporaryDirectory(prefix="pike-client-") as folder:
        place = Place(Path(folder), typed.state or Path(folder, "pike"), typed.outlived)
        if typed.http:
            found = drive_over_http(typed.client, steps, place)
        else:
            found = drive(typed.client, steps, place, typed.tool_limit, more)
        if typed.keep:
            shutil.copytree(folder, typed.keep, dirs_exist_ok=True)
    print(json.dumps(found, indent=2))
    return 0 if found["calls"] and all(call["text"] for call in found["calls"]) else 1


if __name__ == "__main__":
    sys.exit(main())
