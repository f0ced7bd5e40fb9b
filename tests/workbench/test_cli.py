"""The command line: grammar, exit codes, streams."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from workbench.arguments import COMMANDS
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from tests.workbench.commanding import Pike

PLAIN_MODULES = (
    "cli",
    "commands.sessions",
    "commands.tail",
    "commands.control",
    "compose",
    "launch",
    "plain",
)


def pike_process(*words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run `pike` as a program of its own."""
    import os

    argv = [sys.executable, "-m", "workbench", *words]
    return subprocess.run(argv, capture_output=True, timeout=60, check=False, env=os.environ | more)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_a_module_that_carries_it_out(command: object) -> None:
    name = getattr(command, "module", "") or getattr(command, "name", "")
    assert callable(importlib.import_module(f"workbench.commands.{name}").run)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(
    command: object, pike: Pike, capsys: pytest.CaptureFixture[str]
) -> None:
    told = pike(getattr(command, "name", ""), "--help")
    assert told.code == 0
    assert "usage: pike" in capsys.readouterr().out


def test_an_unknown_command_is_wrong_usage_with_the_nearest_name(pike: Pike) -> None:
    told = pike("sessionz")
    assert (told.code, told.out) == (2, "")
    assert "'sessions'" in told.err


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "starter/softmax", "--queriez", "3"),
        ("steer", "s", "guide"),
        ("tail", "nobody"),
        ("show", "nobody"),
        ("best", "nobody"),
        ("git", "nobody", "--", "log"),
        ("tasks", "show"),
        ("evaluate", "starter/softmax", "/nowhere.py"),
        ("tasks", "qualify", "starter", "--limit", "0"),
        ("tasks", "qualify", "starter", "--limit", "nan"),
        ("best", "nobody", "-o", "x.py", "--bundle", "x.json"),
    ],
)
def test_wrong_usage_ends_with_two_and_words_on_stderr_only(
    pike: Pike, words: tuple[str, ...]
) -> None:
    told = pike(*words)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("pike: ")
    assert "Traceback" not in told.err


def test_an_empty_state_folder_lists_no_sessions(pike: Pike) -> None:
    assert pike("sessions", "--json").json == []
    told = pike("sessions")
    assert (told.code, told.out) == (0, "")
    assert "pike demo" in told.err


def test_without_a_terminal_the_screens_name_the_plain_command(pike: Pike) -> None:
    told = pike()
    assert told.code == 1
    assert "pike sessions" in told.err


def test_a_broken_settings_file_is_told_in_one_line(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIKE_QUERIES", "many")
    told = pike("config")
    assert told.code == 2
    assert told.err.count("\n") == 1


def test_config_tells_the_origin_of_every_value(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIKE_QUERIES", "7")
    rows = {row["name"]: row for row in pike("config", "--json").json["settings"]}
    assert (rows["queries"]["value"], rows["queries"]["origin"]) == (7, "PIKE_QUERIES")
    assert rows["cost"]["origin"] == "default"


def test_a_mistake_of_ours_is_one_line_without_a_traceback(
    pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("workbench.commands.sessions")

    def broken(*_: object) -> int:
        raise ZeroDivisionError("\x1b[31mboom")

    monkeypatch.setattr(module, "run", broken)
    told = pike("sessions")
    assert told.code == 1
    assert "ZeroDivisionError" in told.err
    assert "\x1b" not in told.err
    assert "Traceback" not in told.err


def test_interrupting_a_command_ends_with_130(pike: Pike, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("workbench.commands.sessions")

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run", interrupted)
    assert pike("sessions").code == 130


def test_a_refusal_is_always_a_sentence_for_a_person() -> None:
    for kind in WorkbenchError.__subclasses__():
        assert kind.exit_code in (1, 2)


def test_a_closed_pipe_is_no_error() -> None:
    shell = f"{sys.executable} -m workbench config | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr.count(b"\n")) in [(0, 0), (0, 1)]
    assert b"Error" not in done.stderr


def test_an_ascii_terminal_gets_ascii() -> None:
    done = pike_process("config", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    done.stdout.decode("ascii")


def test_listing_sessions_imports_nothing_heavy() -> None:
    code = (
        "import sys; from workbench.cli import main; main(['sessions']);"
        "print([m for m in ('textual','rich','mcp','torch','triton','pydantic','openai','anthropic','google.genai',"
        "'git','genai_prices','numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize("module", PLAIN_MODULES)
def test_plain_modules_never_load_a_screen(module: str) -> None:
    code = f"import sys, workbench.{module}; print([m for m in ('textual','torch','triton') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.strip() == b"[]"
