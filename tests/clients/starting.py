"""How each real client is installed, told of our server and started; and the folder of one run."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clients.model import SERVER

if TYPE_CHECKING:
    from tests.clients.wire import Json

ROOT = Path(__file__).parents[2]
NODE = ("node", "node@22")
PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.332",
    "codex": "@openai/codex@0.171.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
}
_KEY = "dummy-not-a-key"


def cache() -> Path:
    """Return where node and the clients are kept."""
    named = os.environ.get("MCP_CLIENTS_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "pike-mcp-clients"


def installed(name: str, package: str) -> Path:
    """Return the folder of a package's programs; npm installs it on first use.

    Raises:
        CalledProcessError: npm could not.
    """
    folder = cache() / f"{name}-{package.rpartition('@')[2]}"
    folder.mkdir(parents=True, exist_ok=True)
    programs = folder / "node_modules" / ".bin"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            words = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", package]
            environment = {**os.environ, "PATH": f"{node()}:{os.environ['PATH']}"}
            subprocess.run(words, check=True, stdout=sys.stderr, timeout=300, env=environment)
            (folder / "whole").touch()
    return programs


def node() -> Path:
    return cache() / "node-22" / "node_modules" / ".bin"


@dataclass(frozen=True)
class Place:
    """The folder of one run."""

    folder: Path
    state: Path
    """`PIKE_HOME` of the server."""
    outlived: bool = False
    """Whether engines may outlive the run: the server has nothing of its folder, which ends with it."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def wrapper(self) -> Path:
        return self.folder / "server.sh"

    def prepare(self) -> None:
        """Make the folders, and a server that notes its traffic."""
        for name in ("home", "project"):
            (self.folder / name).mkdir()
        to_server, to_client = self.folder / "to-server.jsonl", self.folder / "to-client.jsonl"
        server = shlex.join(
            [*self._environment(), str(ROOT / ".venv/bin/pike"), "mcp", "--device", "cpu"]
        )
        self.wrapper.write_text(
            "#!/usr/bin/env bash\n"
            f"exec {server} < <(tee -a {to_server}) > >(tee -a {to_client}) 2>> {self.folder}/server.log\n",
            encoding="utf-8",
        )
        self.wrapper.chmod(0o700)

    def _environment(self) -> list[str]:
        """Return how the server is started: with what the client gives it, or, if outlived, with nothing of it."""
        home, more = (self.state.parent, ["-i"]) if self.outlived else (self.folder, [])
        names = {"PATH": os.environ["PATH"], "TMPDIR": str(home), "PIKE_HOME": str(self.state)}
        named = names | {"HOME": str(home)} if self.outlived else names
        return ["env", *more, *(f"{name}={value}" for name, value in named.items())]

    def traffic(self, name: str) -> list[Json]:
        """Return what passed in one direction."""
        found: list[Json] = []
        path = self.folder / f"{name}.jsonl"
        for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
            with suppress(ValueError):
                found.append(json.loads(line))
        return found


@dataclass(frozen=True)
class Start:
    """How a client is started for one question."""

    settings: str
    """Its settings file before our server is put there, below the home folder."""
    text: str
    argv: tuple[str, ...]
    environment: dict[str, str]


def start_of(client: str, url: str) -> Start:
    """Return how to start a client whose model is at `url`."""
    match client:
        case "claude":
            argv = ("claude", "-p", "Call the tool.", "--allowedTools", f"mcp__{SERVER}")
            off = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"}
            off |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false"}
            key = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": _KEY}
            wait = {"MCP_CONNECTION_NONBLOCKING": "0"}
            return Start(".claude.json", "{}", (*argv, "--output-format", "json"), key | off | wait)
        case "codex":
            argv = ("codex", "exec", "--skip-git-repo-check", "--json", "Call the tool.")
            text = (
                'model = "scripted"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
                f'sandbox_mode = "read-only"\n[model_providers.scripted]\nname = "scripted"\n'
                f'base_url = "{url}/v1"\nwire_api = "responses"\n'
                f'[mcp_servers.{SERVER}]\ncommand = "replaced"\n'
            )
            return Start(".codex/config.toml", text, argv, {})
        case "gemini":
            argv = ("gemini", "-m", "gemini-2.5-flash", "-p", "Call the tool.", "-o", "json")
            auth = {"auth": {"selectedType": "gemini-api-key"}}
            text = json.dumps({"security": auth, "privacy": {"usageStatisticsEnabled": False}})
            key = {"GEMINI_API_KEY": _KEY, "GOOGLE_GEMINI_BASE_URL": url}
            trust = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
            return Start(
                ".gemini/settings.json", text, (*argv, "--approval-mode", "yolo"), key | trust
            )
        case _:
            name = "@ai-sdk/openai-compatible"
            limit = {"context": 100_000, "output": 8_000}
            models = {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}}
            options = {"baseURL": f"{url}/v1", "apiKey": _KEY}
            provider = {"npm": name, "name": "scripted", "options": options, "models": models}
            model = {"model": "scripted/scripted", "small_model": "scripted/scripted"}
            text = json.dumps({"autoupdate": False, **model, "provider": {"scripted": provider}})
            argv = ("opencode", "run", "--format", "json", "Call the tool.")
            off = {"OPENCODE_DISABLE_MODELS_FETCH": "1"}
            return Start(".config/opencode/opencode.json", text, argv, off)


def configure(
    client: str, place: Place, start: Start, tool_limit_s: int | None = None, url: str = ""
) -> None:
    """Write the client's settings, with our server put there by `pike mcp install`."""
    settings = place.home / start.settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(start.text, encoding="utf-8")
    pike = str(ROOT / ".venv/bin/pike")
    environment = {"HOME": str(place.home), "PATH": os.environ["PATH"]}
    subprocess.run(
        [pike, "mcp", "install", client, "--write", *(["--url", url] if url else [])],
        check=True, env=environment, stdout=sys.stderr, timeout=60,
    )  # fmt: skip
    text = settings.read_text(encoding="utf-8").replace(pike, str(place.wrapper))
    if tool_limit_s is not None:
        text = _limited(client, text, tool_limit_s)
    if client == "codex":
        text = text.replace(
            "required = true", 'required = true\ndefault_tools_approval_mode = "approve"'
        )
    settings.write_text(text, encoding="utf-8")


def _limited(client: str, text: str, limit_s: int) -> str:
    """Return settings with another limit on one call."""
    if client == "codex":
        return re.sub(r"tool_timeout_sec = \d+", f"tool_timeout_sec = {limit_s}", text)
    settings = json.loads(text)
    table = "mcp" if client == "opencode" else "mcpServers"
    settings[table][SERVER]["timeout"] = limit_s * 1000
    return json.dumps(settings)
