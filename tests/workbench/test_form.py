"""The new-session form without its screen: what it begins with, what it means, what it offers."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions import facts as f
from sessions.journal import Reader
from sessions.models.catalog import Catalog
from sessions.summary import rows
from tests.tui import journals
from workbench import config, form_looks, form_values, suggestions
from workbench.errors import WrongUsage
from workbench.machine import Machine, Row
from workbench.plain import Inert
from workbench.suggestions import Option
from workbench.today import Today, midnight

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LAST = replace(
    journals.opened(),
    models={"ideas": "strong", "improve": "strong", "fix": "cheap,strong"},
    limits={"queries": 40, "cost_usd": None, "hours": 0.5},
    strategy="best-of-n",
)


def nowhere(_: str) -> None:
    return None


def loaded(folder: Path, text: str = "") -> config.Settings:
    (folder / "pike.toml").write_text(text, encoding="utf-8")
    return config.load(env={"HOME": str(folder)}, folder=folder)


# --- what stands in it


def test_without_a_session_the_settings_stand_in_it(tmp_path: Path) -> None:
    values = form_values.prefilled(loaded(tmp_path), None)
    assert (values["strategy"], values["model"], values["queries"]) == ("pike-b", "", "300")
    assert (values["cost"], values["time"], values["task"]) == ("10", "12", "")


def test_the_last_session_stands_in_it_where_the_settings_are_silent(tmp_path: Path) -> None:
    values = form_values.prefilled(loaded(tmp_path, "queries = 7\n"), LAST)
    assert values["queries"] == "7"
    assert (values["cost"], values["time"]) == ("none", "0.5")
    assert (values["model"], values["ideas_model"], values["fix_model"]) == (
        "strong",
        "",
        "cheap,strong",
    )
    assert (values["task"], values["strategy"]) == ("starter/softmax", "best-of-n")


def test_what_stands_in_it_at_first_means_the_same_session_again(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    wish, typed = form_values.read(form_values.prefilled(settings, LAST), settings, nowhere)
    assert wish.task == "starter/softmax"
    assert {k: v for k, v in typed.items() if v is not None} == {
        "strategy": "best-of-n",
        "model": "strong",
        "fix_model": "cheap,strong",
        "queries": "40",
        "cost": "none",
        "time": "0.5",
        "precision": "fp32",
    }


# --- what it means


def read(settings: config.Settings, **more: str) -> tuple[Any, dict[str, Any], str]:
    at = [""]
    values = {**form_values.prefilled(settings, None), "task": "t", **more}
    try:
        wish, typed = form_values.read(values, settings, at.append)
    except WrongUsage as error:
        return None, {}, f"{at[-1]}: {error}"
    return wish, {k: v for k, v in typed.items() if v is not None}, ""


def test_an_emptied_role_is_the_model_though_the_settings_name_another(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "model = 'dear'\nfix_model = 'cheap'\n")
    assert read(settings)[1] == {}
    assert read(settings, fix_model="")[1] == {"fix_model": "dear"}


def test_an_emptied_command_of_the_settings_is_refused_with_where_it_stands(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "notify = 'mail me'\n")
    said = read(settings, notify="")[2]
    assert said.startswith("notify: ")
    assert "pike.toml" in said


def test_seed_and_settings_are_read(tmp_path: Path) -> None:
    wish, _, _ = read(loaded(tmp_path), seed="7", set="width=3  fixes=1", name=" n ")
    assert (wish.seed, list(wish.assign), wish.name) == (7, ["width=3", "fixes=1"], "n")
    assert read(loaded(tmp_path), seed="seven")[2].startswith("seed: ")
    assert read(loaded(tmp_path), task=" ")[2].startswith("task: ")


# --- what it offers


def test_models_without_a_key_come_last_and_say_what_is_missing() -> None:
    tables = {
        "dear": {"provider": "anthropic", "model": "claude-x", "key_env": "NO_SUCH_KEY"},
        "mine": {"provider": "openai", "base_url": "http://localhost:1/v1"},
    }
    found = suggestions.models(Catalog(tables, {}), ["claude-y (anthropic)", "offline (rules)"])
    ready = [o.key for o in found if o.ready]
    assert ready == ["mine", "offline", "recorded", "mcp", "files"]
    assert [o.key for o in found if not o.ready] == ["dear", "claude-y"]
    assert "NO_SUCH_KEY" in found[-2].note


def test_names_that_begin_so_come_before_texts_that_hold_it() -> None:
    options = [
        Option("starter/elementwise", Inert("a scaled sum")),
        Option("starter/scan", Inert("")),
        Option("local/casca", Inert("")),
        Option("scatter", Inert("")),
    ]
    found = [o.key for o in suggestions.matching(options, "sca")]
    assert found == ["scatter", "starter/scan", "local/casca", "starter/elementwise"]


def test_files_are_offered_but_not_hidden_or_odd_ones(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", ".hidden.py", "x\x1b[31m.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    found = [o.key for o in suggestions.files(f"{tmp_path}/")]
    assert found == [f"{tmp_path}/a.py", f"{tmp_path}/sub/"]
    assert suggestions.files("/nowhere/at/all/") == []


def test_a_file_is_known_again_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "other-name.py"
    path.write_text("x = 1\n", encoding="utf-8")
    tasks = [Option("local/mine-b22ff1a1", Inert("")), Option("local/mine-00000000", Inert(""))]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    tasks.append(Option(f"local/mine-{digest}", Inert("")))
    assert form_looks.task_id(str(path), tasks) == f"local/mine-{digest}"
    assert form_looks.task_id("local/mine-0", tasks) == "local/mine-00000000"


def test_a_demo_is_no_pattern_for_the_next_session(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journals.opened
    journals.build(home / "sessions/mine", 8, hostile=False)
    models = dict.fromkeys(("ideas", "improve", "fix"), "recorded")

    def demo(session: str, queries: int) -> f.Opened:
        return replace(real(session, queries), models=models)

    monkeypatch.setattr(journals, "opened", demo)
    monkeypatch.setattr(journals, "START", journals.START + 9e6)
    journals.build(home / "sessions/demo", 8, hostile=False)
    found = form_looks.before(home / "sessions")
    assert found.last is not None
    assert found.last.session == "mine"


def test_an_estimate_and_checks_stand_beside_the_values(home: Path) -> None:
    end = (f.Finished("all 40 queries are used", "queries"),)
    journals.build(home / "sessions/mine", 12, hostile=False, end=end)
    known = form_looks.before(home / "sessions")
    there = form_looks.Around(Machine((Row("torch", "ok", "2.13"), Row("cpu", "ok", "2 cores"))))
    values = {**form_values.prefilled(known.settings, known.last), "device": "cpu"}
    looked = form_looks.look({**values, "model": "offline", "fix_model": ""}, known, there)
    assert looked.expected.startswith("no earlier session to estimate from: at most 300 queries")
    assert {row.name for row in looked.checks} >= {"device", "sandbox", "git"}
    refused = form_looks.look({**values, "model": "no-such"}, known, there)
    assert "no-such" in refused.refusals["model"]


# --- today


def test_today_is_what_was_spent_since_midnight(home: Path) -> None:
    made = journals.build(home / "sessions/mine", 12, hostile=False)
    found = rows(home / "sessions")
    total = found[0]["cost_usd"]
    assert abs(Today().spent(found, made.at) - total) < 1e-6
    assert Today().spent(found, made.at + 2 * 86_400) == 0.0


def test_of_a_session_over_midnight_only_the_answers_since_count(home: Path) -> None:
    made = journals.build(home / "sessions/mine", 12, hostile=False)
    found = rows(home / "sessions")
    with Reader(home / "sessions/mine/journal.db") as reader:
        half = (made.at + journals.START) / 2
        since = reader.cost_since(half)
        assert 0 < since < found[0]["cost_usd"]
        assert reader.cost_since(made.at + 1) == 0
        assert abs(reader.cost_since(0) - found[0]["cost_usd"]) < 1e-6


def test_midnight_is_of_this_persons_day() -> None:
    assert 0 <= 1_764_500_000.0 - midnight(1_764_500_000.0) < 86_400
