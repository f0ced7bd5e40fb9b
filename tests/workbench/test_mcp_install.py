"""`pike mcp install` and `pike mcp token`: what they print, and what they do to settings that hold more."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workbench.commanding import Pike
from workbench import mcp_install
from workbench.errors import CannotGoOn
from workbench.mcp_entries import CLIENTS, SERVER, Reach

FILES = {name: kind for name, kind in CLIENTS.items() if kind.user is not None}
TOML_OF_A_PERSON = """\
model = "gpt"  # a comment that stays

[mcp_servers.other]
command = "other"

[mcp_servers.kernels]
command = "old"
args = ["x"]

[mcp_servers.kernels.env]
OLD = "1"

[projects."/home/me"]
trust_level = "trusted"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIKE_HOME", str(tmp_path / "pike"))
    return tmp_path


def settings_of(client: str, path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if CLIENTS[client].is_toml else json.loads(text)


def file_of(client: str, home: Path) -> Path:
    user = CLIENTS[client].user
    assert user is not None
    return user({"HOME": str(home)})


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_is_printed_and_nothing_is_written(client: str, home: Path) -> None:
    told = Pike()("mcp", "install", client)
    assert told.code == 0
    shown = tomllib.loads(told.out) if CLIENTS[client].is_toml else json.loads(told.out)
    entry = shown[CLIENTS[client].table][SERVER]
    command = (
        entry["command"]
        if isinstance(entry["command"], list)
        else [entry["command"], *entry["args"]]
    )
    assert Path(command[0]).is_absolute()
    assert command[-1] == "mcp"
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("client", FILES)
def test_written_it_stands_in_the_user_s_settings_and_a_second_time_changes_nothing(
    client: str, home: Path
) -> None:
    first = Pike()("mcp", "install", client, "--write")
    path = file_of(client, home)
    text = path.read_text(encoding="utf-8")
    assert first.code == 0
    assert f"+++ {path}" in first.out
    assert settings_of(client, path)[CLIENTS[client].table][SERVER]
    second = Pike()("mcp", "install", client, "--write")
    assert (second.out, path.read_text(encoding="utf-8")) == ("", text)
    assert "nothing was written" in second.err
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("client", FILES)
def test_what_else_stands_there_stays_and_the_old_file_is_kept(client: str, home: Path) -> None:
    kind, path = CLIENTS[client], file_of(client, home)
    servers = {"other": {"command": "other"}, SERVER: {"command": "old"}}
    plain = {"theme": "dark ☾", kind.table: servers, "last": [1, 2]}
    old = TOML_OF_A_PERSON if kind.is_toml else json.dumps(plain, indent=4)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(old, encoding="utf-8")
    path.chmod(0o640)
    before = settings_of(client, path)
    told = Pike()("mcp", "install", client, "--write")
    after = settings_of(client, path)
    assert after[kind.table].pop(SERVER) != before[kind.table].pop(SERVER)
    assert after == before
    assert list(after) == list(before)
    kept = path.with_name(f"{path.name}.before-pike")
    assert kept.read_text(encoding="utf-8") == old
    assert str(kept) in told.err
    assert path.stat().st_mode & 0o777 == 0o640
    if kind.is_toml:
        assert "# a comment that stays" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize(
    "text", ["{damaged", "[1, 2]", '{"mcpServers": 3, "mcp": 3}', "a = [", "\ud800"]
)
def test_settings_that_cannot_be_changed_safely_stay_as_they_are(
    client: str, text: str, home: Path
) -> None:
    path = file_of(client, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode("utf-8", "surrogatepass")
    path.write_bytes(data)
    told = Pike()("mcp", "install", client, "--write")
    assert told.code == 1
    assert str(path) in told.err
    assert path.read_bytes() == data
    assert [p for p in path.parent.iterdir() if p.name.startswith(f".{path.name}")] in ([], [path])


def test_a_table_in_a_form_of_its_own_is_left_to_the_person(home: Path) -> None:
    path = file_of("codex", home)
    path.parent.mkdir()
    text = 'mcp_servers = { kernels = { command = "old" } }\n'
    path.write_text(text, encoding="utf-8")
    told = Pike()("mcp", "install", "codex", "--write")
    assert (told.code, path.read_text(encoding="utf-8")) == (1, text)
    assert "by hand" in told.err


def test_a_file_that_changed_since_is_not_overwritten(home: Path) -> None:
    path = home / "settings.json"
    path.write_text("{}", encoding="utf-8")
    change = mcp_install.planned(CLIENTS["gemini"], {"command": "pike"}, path)
    path.write_text('{"new": 1}', encoding="utf-8")
    with pytest.raises(CannotGoOn, match="changed just now"):
        mcp_install.make(change)
    assert path.read_text(encoding="utf-8") == '{"new": 1}'


def test_a_link_to_settings_kept_elsewhere_stays_a_link(home: Path) -> None:
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    (home / ".claude.json").symlink_to(real)
    assert Pike()("mcp", "install", "claude", "--write").code == 0
    assert (home / ".claude.json").is_symlink()
    assert SERVER in real.read_text(encoding="utf-8")


def test_a_server_elsewhere_is_reached_by_ssh_or_by_a_url_whose_token_stands_nowhere() -> None:
    told = Pike()("mcp", "install", "claude", "--ssh", "gpu-box")
    entry = json.loads(told.out)["mcpServers"][SERVER]
    assert [entry["command"], *entry["args"]][-3:] == ["gpu-box", "pike", "mcp"]
    for client in CLIENTS:
        told = Pike()("mcp", "install", client, "--url", "http://box:8765/mcp")
        assert "PIKE_MCP_TOKEN" in told.out
        assert "PIKE_MCP_TOKEN" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install", "codx"), "Did you mean 'codex'?"),
        (("install", "generic", "--write"), "no settings file"),
        (("install", "claude", "--url", "box:8765"), "no URL"),
        (("install", "claude", "--url", "http://u:secret@box/mcp"), "no place for a token"),
        (("install", "claude", "--url", "http://box/mcp?token=secret"), "no place for a token"),
        (("install", "claude", "--ssh=-oProxyCommand=x"), "no host"),
        (("--token-file", "x"), "--http"),
        (("--allow-host", "x"), "--http"),
        (("token", "local"), "cannot name a client"),
        (("token", "x", "--scope", "root"), "There is no scope 'root': there are kernels"),
        (("--http", "a:b:c"), "is no HOST:PORT"),
        (("--http", "0.0.0.0:0"), "can be reached by others"),
        (
            ("--http", "127.0.0.1:0", "--token-file", "/nowhere/at all"),
            "--token-file '/nowhere/at all'",
        ),
        (("--executor", "slurm"), "'slurm' is no executor"),
        (("--device", "tpu"), "'tpu' is no device"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(words: tuple[str, ...], said: str) -> None:
    told = Pike()("mcp", *words)
    assert told.code == 2
    assert said in told.err
    assert "secret" not in told.err


def test_a_token_is_data_on_stdout_and_its_digest_in_the_state_folder(home: Path) -> None:
    told = Pike()("mcp", "token", "laptop", "--scope", "tasks")
    kept = (home / "pike" / "mcp-tokens.jsonl").read_text(encoding="utf-8")
    assert re.fullmatch(r"pike_[\w-]{43}\n", told.out)
    assert told.out.strip() not in kept + told.err
    assert json.loads(kept)["scopes"] == ["kernels", "tasks"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(texts, st.lists(texts, max_size=3), st.dictionaries(texts, texts, max_size=3))
def test_any_command_and_environment_survive_either_form(
    command: str, arguments: list[str], environment: dict[str, str]
) -> None:
    reach = Reach((command, *arguments), environment)
    for kind in CLIENTS.values():
        entry = kind.entry(reach)
        shown = mcp_install.snippet(kind, entry)
        read = tomllib.loads(shown) if kind.is_toml else json.loads(shown)
        assert read == {kind.table: {SERVER: entry}}
