"""Every check that stands before a session: bad input gets a clear error, and nothing is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sessions.folder import SessionFolder
from workbench import budgets, config, kept_models, lookup, starting
from workbench.errors import WrongUsage

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.commanding import Pike, Told

TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    return [torch.rand(3)]
def get_init_inputs():
    return []
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A small task's file."""
    path = tmp_path / "small.py"
    path.write_text(TASK, encoding="utf-8")
    return path


def refused(told: Told, home: Path, code: int, *words: str) -> None:
    """Expect a refusal in one line with these words, and no session."""
    assert (told.code, told.out) == (code, ""), told.err
    assert told.err.count("\n") == 1
    for word in words:
        assert word in told.err
    assert not list((home / "sessions").glob("*"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def (", ("not a Python file", "line 1")),
        ("x = 1", ("no class Model",)),
        ("class Model: pass", ("no function get_inputs",)),
        ("class Model: pass\ndef get_inputs(): pass", ("no function get_init_inputs",)),
        (TASK.replace("torch.rand(3)", "torch.rand(3).cuda()"), ("CUDA", "CPU")),
        (TASK.replace("rand(3)", "rand(3, device='cuda')"), ("CUDA", "CPU")),
    ],
    ids=["syntax", "no Model", "no get_inputs", "no get_init_inputs", "cuda call", "cuda device"],
)
def test_a_file_that_is_no_task_here_is_refused_with_the_reason(
    pike: Pike, home: Path, tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    path = tmp_path / "odd.py"
    path.write_text(text, encoding="utf-8")
    told = pike("run", str(path), "--model", "offline", "--device", "cpu", "--detach")
    refused(told, home, 1 if "CUDA" in words else 2, *words)


@pytest.mark.parametrize(
    ("fixing", "limit"), [("offline", None), ("files", None), ("dear", 10.0), ("mcp", None)]
)
def test_where_agents_answer_and_only_free_models_besides_there_is_no_default_limit_of_dollars(
    fixing: str, limit: float | None, home: Path
) -> None:
    del home  # an empty one, with no settings
    names = {"improve": "mcp", "ideas": "mcp", "fix": fixing}
    assert budgets.of_session(config.load({}), names, {})["cost_usd"] == limit


def test_an_agent_may_answer_beside_a_free_model(pike: Pike, home: Path) -> None:
    words = ("run", "starter/softmax", "--model", "mcp", "--device", "cpu", "--dry-run")
    told = pike(*words, "--fix-model", "offline")
    assert told.code == 0, told.err
    told = pike(*words, "--fix-model", "offline", "--cost", "5")
    refused(told, home, 1, "the price of mcp is unknown")


def test_a_file_that_is_no_text_is_refused(pike: Pike, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "binary.py"
    path.write_bytes(bytes(range(256)))
    refused(pike("run", str(path), "--model", "offline"), home, 2, "UTF-8")


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        ((), 2, ("no model is set", "offline", "no key found")),
        (("--model", "offlin"), 2, ("'offlin'", "offline")),
        (("--model", "claude-sonnet-4-5"), 1, ("ANTHROPIC_API_KEY",)),
        (("--model", "offline", "--queries", "0"), 2, ("--queries",)),
        (("--model", "offline", "--cost", "0"), 2, ("--cost",)),
        (("--model", "offline", "--time", "-1"), 2, ("--time",)),
        (("--model", "offline", "--strategy", "pike-bb"), 2, ("'pike-b'",)),
        (("--model", "offline", "--set", "widtx=3"), 2, ("'width'",)),
        (("--model", "offline", "--set", "width"), 2, ("KEY=VALUE",)),
        (("--model", "offline", "--device", "cuda:99"), 2, ("'cuda:99'", "cpu")),
        (("--model", "offline", "--from", "nobody:c1"), 2, ("nobody",)),
        (("--model", "offline", "--from", "nothing"), 2, ("SESSION:c12",)),
        (("--model", "offline", "--instructions", "/nowhere"), 2, ("/nowhere",)),
        (("--model", "offline", "--notify", "no-such-program-here"), 2, ("no-such-program-here",)),
        (("--model", "offline", "--name", "a/b"), 2, ("a/b",)),
        (("--model", "offline,offline"), 2, ("--model", "for --fix-model")),
        (("--model", "offline", "--fix-model", "offline,"), 2, ("--fix-model", "each comma")),
        (("--model", "recorded"), 2, ("recorded answers exist for", "starter/softmax")),
    ],
    ids=repr,
)
def test_a_flag_that_cannot_hold_is_refused(
    pike: Pike, home: Path, task: Path, flags: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    told = pike("run", str(task), "--detach", *flags)
    refused(told, home, code, *words)


def test_a_dollar_limit_with_a_model_of_unknown_price_is_refused(
    pike: Pike, home: Path, task: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "config" / "pike" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        "[models.mine]\nprovider = 'openai'\nbase_url = 'http://localhost:1/v1'\n", encoding="utf-8"
    )
    told = pike("run", str(task), "--model", "mine", "--device", "cpu", "--detach")
    refused(told, home, 1, "price", "price_in", "--cost none")


def test_without_git_nothing_starts(
    pike: Pike, home: Path, task: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    refused(pike("run", str(task), "--model", "offline"), home, 1, "git")


def test_a_state_folder_that_cannot_be_made_is_named(
    pike: Pike, task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("PIKE_HOME", str(blocked / "home"))
    told = pike("run", "starter/softmax", "--model", "offline", "--device", "cpu", "--detach")
    assert told.code == 1
    assert "PIKE_HOME" in told.err
    assert "Traceback" not in told.err


def test_a_session_records_all_that_was_decided(home: Path, task: Path, tmp_path: Path) -> None:
    from workbench import config
    from workbench.printing import Printer

    told = tmp_path / "words.txt"
    told.write_text("prefer plain PyTorch", encoding="utf-8")
    first = tmp_path / "first.py"
    first.write_text("class ModelNew: pass", encoding="utf-8")
    wish = starting.Wish(
        str(task),
        name="mine",
        seed=7,
        assign=("width=3",),
        origin=str(first),
        instructions=str(told),
    )
    settings = config.load({"model": "offline", "queries": "20", "device": "cpu", "cost": "none"})
    folder = starting.start(wish, settings, Printer())
    opened = lookup.state(folder).opened
    assert opened is not None
    assert opened.task.startswith("local/small-")
    assert (opened.session, opened.seed, opened.device) == ("mine", 7, "cpu")
    assert opened.limits == {"queries": 20, "cost_usd": None, "hours": 12.0}
    assert (opened.settings["width"], opened.settings["queries"]) == (3, 20)
    assert opened.models == {"ideas": "offline", "improve": "offline", "fix": "offline"}
    assert opened.labels == {"offline": "offline (rules, no model)"}
    assert (opened.instructions, opened.origin) == ("prefer plain PyTorch", str(first))


def test_kept_tables_hold_only_what_the_session_uses_and_no_key(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path)
    folder.artifacts.mkdir()
    tables = {"mine": {"provider": "openai", "key_env": "MY_KEY"}, "other": {"provider": "google"}}
    kept_models.keep(folder, ["mine", "offline"], tables)
    kept_models.keep(folder, ["mine"], {})
    assert kept_models.tables_of(folder) == {"mine": tables["mine"]}
    assert "other" not in json.dumps(kept_models.tables_of(folder))


def test_pairs_are_split_at_their_first_sign() -> None:
    assert starting.assigned(["a=1", "b = x=y "]) == {"a": "1", "b": "x=y"}
    for pair in ("a", "=1", "a="):
        with pytest.raises(WrongUsage):
            starting.assigned([pair])


def test_the_limit_of_queries_has_one_name() -> None:
    with pytest.raises(WrongUsage, match="say --queries N"):
        starting.assigned(["width=3", "queries=12"])


OWN = """
class Mine:
    pass
print("it ran")
"""


def test_a_strategy_of_ones_own_that_is_none_is_refused_in_a_line(
    task: Path, tmp_path: Path, home: Path, pike: Pike
) -> None:
    (tmp_path / "mine.py").write_text(OWN.replace('print("it ran")', ""), encoding="utf-8")
    for name, words in (
        ("mine.py:Mine", "mine.py:Mine cannot be made from (settings, seed)"),
        ("mine.py:Other", "the file has no class Other"),
        ("none.py:Mine", "none.py cannot be read"),
    ):
        given = f"{tmp_path}/{name}"
        told = pike("run", str(task), "--strategy", given, "--model", "offline", "--detach")
        refused(told, home, 2, words)


def test_the_settings_of_a_folder_cannot_name_code_to_run(
    task: Path, tmp_path: Path, home: Path, pike: Pike, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / "mine.py").write_text(OWN, encoding="utf-8")
    (folder / "pike.toml").write_text('strategy = "mine.py:Mine"\n', encoding="utf-8")
    monkeypatch.chdir(folder)
    told = pike("run", str(task), "--model", "offline", "--detach")
    refused(told, home, 2, "pike.toml names a strategy of its own", "--strategy mine.py:Mine")
