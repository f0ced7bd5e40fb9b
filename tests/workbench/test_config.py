"""Settings, joined from files, environment and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from workbench.config import SETTINGS, Settings, load
from workbench.errors import WrongUsage

if TYPE_CHECKING:
    from pathlib import Path


def settings(
    tmp_path: Path,
    *,
    user: str = "",
    project: str = "",
    env: dict[str, str] | None = None,
    flags: dict[str, str | None] | None = None,
) -> Settings:
    """Load settings from real files under `tmp_path`."""
    home, work = tmp_path / "home", tmp_path / "work" / "deep"
    work.mkdir(parents=True, exist_ok=True)
    if user:
        (home / "pike").mkdir(parents=True, exist_ok=True)
        (home / "pike" / "config.toml").write_text(user, encoding="utf-8")
    if project:
        (tmp_path / "work" / "pike.toml").write_text(project, encoding="utf-8")
    return load(flags or {}, env={"XDG_CONFIG_HOME": str(home), **(env or {})}, folder=work)


def test_without_any_file_every_setting_has_its_default(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert {name: held.origin for name, held in found.values.items()} == {
        setting.name: "default" for setting in SETTINGS
    }
    assert (found["queries"], found["cost"], found["time"]) == (300, 10.0, 12.0)


def test_the_nearest_origin_wins_and_is_told(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        user="queries = 10\ncost = 1\ntime = 2\nmodel = 'a'",
        project="queries = 20\ncost = 2\ntime = 3",
        env={"PIKE_QUERIES": "30", "PIKE_COST": "3"},
        flags={"queries": "40", "cost": None},
    )
    held = found.values
    assert (held["queries"].value, held["queries"].origin) == (40, "--queries")
    assert (held["cost"].value, held["cost"].origin) == (3.0, "PIKE_COST")
    assert (held["time"].value, held["time"].origin) == (3.0, str(tmp_path / "work" / "pike.toml"))
    assert held["model"].origin.endswith("config.toml")


def test_an_unknown_key_is_refused_with_the_nearest_spelling(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"no setting 'queriez'.*'queries'"):
        settings(tmp_path, user="queriez = 3")


def test_a_file_that_is_not_text_is_refused_without_a_codecs_words(tmp_path: Path) -> None:
    (tmp_path / "home" / "pike").mkdir(parents=True)
    (tmp_path / "home" / "pike" / "config.toml").write_bytes(b"\x90\xff")
    with pytest.raises(WrongUsage, match=r"config\.toml is not UTF-8 text\.$"):
        settings(tmp_path)


def test_an_unknown_key_of_a_model_is_refused_with_the_nearest_spelling(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"'base_ulr'.*'base_url'"):
        settings(tmp_path, user="[models.mine]\nbase_ulr = 'http://x'")


def test_an_unknown_variable_is_a_warning_and_not_a_refusal(tmp_path: Path) -> None:
    found = settings(tmp_path, env={"PIKE_MODELX": "x", "PIKE_HOME": "/h"})
    assert len(found.warnings) == 1
    assert "PIKE_MODEL" in found.warnings[0]


@pytest.mark.parametrize("value", ["0", "-1", "x", "nan", "inf", "1.5", ""])
def test_a_limit_of_queries_is_a_whole_number_above_zero(tmp_path: Path, value: str) -> None:
    with pytest.raises(WrongUsage, match="--queries: queries is"):
        settings(tmp_path, flags={"queries": value})


def test_a_limit_may_be_taken_away_by_name(tmp_path: Path) -> None:
    assert settings(tmp_path, flags={"cost": "none"}).number("cost") is None


def test_a_word_outside_its_list_is_refused_with_the_list(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="fp32, tf32, half"):
        settings(tmp_path, flags={"precision": "fp8"})


def test_models_and_keys_come_whole_from_their_tables(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        user="[models.mine]\nprovider = 'openai'\nprice_in = 1.5\n[keys]\n'live.pause' = 'f2'",
    )
    assert found.models["mine"] == {"provider": "openai", "price_in": 1.5}
    assert found.keys == {"live.pause": "f2"}


@pytest.mark.parametrize("text", ["queries = ", "models = 3", "[models]\nx = 1", "keys = 'q'"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongUsage, match=r"config\.toml"):
        settings(tmp_path, user=text)


def test_yes_and_no_are_read_from_toml_and_from_text(tmp_path: Path) -> None:
    assert settings(tmp_path, user="bell = false")["bell"] is False
    assert settings(tmp_path, env={"PIKE_BELL": "no"})["bell"] is False


@pytest.mark.parametrize(("text", "held"), [("true", "yes"), ("false", "no"), ("'auto'", "auto")])
def test_a_truth_of_toml_is_yes_or_no_where_auto_stands_beside_them(
    tmp_path: Path, text: str, held: str
) -> None:
    assert settings(tmp_path, user=f"agent_tools = {text}")["agent_tools"] == held
    assert settings(tmp_path, env={"PIKE_CALM": "TRUE"})["calm"] == "yes"
    with pytest.raises(WrongUsage, match="one of fp32, tf32, half"):
        settings(tmp_path, user=f"precision = {text}")
