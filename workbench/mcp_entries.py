"""What each MCP client wants to find in its settings so that it offers our tools: as data, nothing is read or written.

| client | of the user | of a project | table |
| --- | --- | --- | --- |
| claude | `~/.claude.json` | `.mcp.json` | `mcpServers` |
| codex | `~/.codex/config.toml` | `.codex/config.toml` | `mcp_servers` |
| gemini | `~/.gemini/settings.json` | `.gemini/settings.json` | `mcpServers` |
| opencode | `~/.config/opencode/opencode.json` | `opencode.json` | `mcp` |
| generic | – | – | `mcpServers` |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SERVER = "kernels"
"""The name of our server in a client's settings."""
TOKEN_VARIABLE = "PIKE_MCP_TOKEN"  # noqa: S105 - the variable's name; no settings file holds a token
CALL_LIMIT_S = 60
"""Our calls end within 45 s."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How a client comes to the server: a command that it starts, or a URL."""

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""


@dataclass(frozen=True, slots=True)
class ClientKind:
    """One client's settings."""

    name: str
    title: str
    table: str
    entry: Callable[[Reach], dict[str, Any]]
    user: Callable[[Mapping[str, str]], Path] | None = None
    """The user's file, by the environment; None where there is no file of that kind."""
    project: str = ""
    note: str = ""
    """What a person must know to have the server offered."""

    @property
    def is_toml(self) -> bool:
        """Whether its settings are TOML, not JSON."""
        return self.project.endswith(".toml")


def _claude(reach: Reach) -> dict[str, Any]:
    if reach.url:
        header = f"Bearer ${{{TOKEN_VARIABLE}}}"
        return {"type": "http", "url": reach.url, "headers": {"Authorization": header}}
    return {"type": "stdio", **_started(reach)}


def _codex(reach: Reach) -> dict[str, Any]:
    limits = {"required": True, "tool_timeout_sec": CALL_LIMIT_S}
    if reach.url:
        return {"url": reach.url, "bearer_token_env_var": TOKEN_VARIABLE, **limits}
    return {**_started(reach), **limits}


def _gemini(reach: Reach) -> dict[str, Any]:
    limit = {"timeout": CALL_LIMIT_S * 1000}
    if reach.url:
        headers = {"Authorization": f"Bearer ${TOKEN_VARIABLE}"}
        return {"httpUrl": reach.url, "headers": headers, **limit}
    return {**_started(reach), **limit}


def _opencode(reach: Reach) -> dict[str, Any]:
    limit = {"enabled": True, "timeout": CALL_LIMIT_S * 1000}
    if reach.url:
        headers = {"Authorization": f"Bearer {{env:{TOKEN_VARIABLE}}}"}
        return {"type": "remote", "url": reach.url, "headers": headers, **limit}
    environment = {"environment": dict(reach.environment)} if reach.environment else {}
    return {"type": "local", "command": list(reach.command), **environment, **limit}


def _generic(reach: Reach) -> dict[str, Any]:
    if reach.url:
        header = f"Bearer ${{{TOKEN_VARIABLE}}}"
        return {"url": reach.url, "headers": {"Authorization": header}}
    return _started(reach)


def _started(reach: Reach) -> dict[str, Any]:
    command, *arguments = reach.command
    environment = {"env": dict(reach.environment)} if reach.environment else {}
    return {"command": command, "args": arguments, **environment}


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _claude_file(environment: Mapping[str, str]) -> Path:
    named = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(named) if named else _home(environment)) / ".claude.json"


def _codex_file(environment: Mapping[str, str]) -> Path:
    named = environment.get("CODEX_HOME")
    return (Path(named) if named else _home(environment) / ".codex") / "config.toml"


def _gemini_file(environment: Mapping[str, str]) -> Path:
    return _home(environment) / ".gemini" / "settings.json"


def _opencode_file(environment: Mapping[str, str]) -> Path:
    named = environment.get("XDG_CONFIG_HOME")
    base = Path(named) if named else _home(environment) / ".config"
    return base / "opencode" / "opencode.json"


CLIENTS: dict[str, ClientKind] = {
    kind.name: kind
    for kind in (
        ClientKind(
            "claude", "Claude Code", "mcpServers", _claude, _claude_file, ".mcp.json",
            "Headless runs (`claude -p`) need MCP_CONNECTION_NONBLOCKING=0, else they may begin without the server.",
        ),
        ClientKind("codex", "Codex", "mcp_servers", _codex, _codex_file, ".codex/config.toml"),
        ClientKind(
            "gemini", "Gemini CLI", "mcpServers", _gemini, _gemini_file, ".gemini/settings.json",
            "Gemini starts servers in trusted folders only: answer its question, or GEMINI_CLI_TRUST_WORKSPACE=true.",
        ),
        ClientKind("opencode", "opencode", "mcp", _opencode, _opencode_file, "opencode.json"),
        ClientKind("generic", "any MCP client", "mcpServers", _generic),
    )
}  # fmt: skip
