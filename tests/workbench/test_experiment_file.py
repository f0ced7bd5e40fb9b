"""The file of an experiment: what it says, and every refusal with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import experiment_file
from workbench.errors import WrongUsage

ROOT = Path(__file__).parents[2]
GOOD = """tasks = ["starter/softmax", "mine/*.py"]
seeds = [3, 5]
model = "offline"
precision = "fp32"

[each]
queries = 20
cost = "none"

[total]
cost = 40

[places]
sessions = 2
gpus = ["cuda:0", "cuda:1"]

[configurations.narrow]
strategy = "pike-b"
set = { width = 3, keep_best = true }

[configurations."wide.2"]
strategy = "steady"
queries = 30
instructions = "told.md"
"""


def read(tmp_path: Path, text: str) -> experiment_file.Written:
    path = tmp_path / "lab.toml"
    path.write_text(text, encoding="utf-8")
    return experiment_file.read(path)


def test_what_all_share_holds_for_each_that_does_not_say_otherwise(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    narrow, wide = found.configurations["narrow"], found.configurations["wide.2"]
    assert (narrow["queries"], wide["queries"]) == (20, 30)
    assert narrow["cost"] == wide["cost"] == "none"
    assert (narrow["model"], wide["precision"]) == ("offline", "fp32")
    assert narrow["set"] == ("width=3", "keep_best=True")
    assert wide["instructions"] == str(tmp_path / "told.md")
    assert found.seeds == (3, 5)
    assert found.total == {"cost": 40.0}
    assert found.places.gpus == ("cuda:0", "cuda:1")


def test_where_it_evaluates_is_the_same_for_all_and_what_was_typed_wins(tmp_path: Path) -> None:
    found = read(tmp_path, f'executor = "ray"\n{GOOD}')
    assert {one["executor"] for one in found.configurations.values()} == {"ray"}
    typed = experiment_file.on(found, "ray://head")
    assert {one["executor"] for one in typed.configurations.values()} == {"ray://head"}
    assert experiment_file.on(found, None) is found


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    found = read(tmp_path, page.split("```toml\n")[1].split("```")[0])
    assert list(found.configurations) == ["full", "nofix", "wide"]
    for key in ("sessions", "model_calls", "evaluations", "gpus"):
        assert f"`{key}`" in page


def test_a_line_is_found_for_tables_keys_and_what_stands_in_them(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert found.at("tasks").endswith("lab.toml, line 1")
    assert found.at("configurations", "narrow").endswith(", line 17")
    assert found.at("configurations", "wide.2", "queries").endswith(", line 23")
    assert found.at("configurations", "narrow", "cost").endswith(", line 17")
    assert found.at("nothing").endswith("lab.toml")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seeds = ", "sedes = ", "line 2: there is no key 'sedes'. Did you mean 'seeds'?"),
        ("queries = 20", "queries = 0", "line 7: queries is '0', but must be a whole number"),
        ("cost = 40", "hours = 40", "line 11: there is no key 'hours' in [total]"),
        ("sessions = 2", "sessions = 0", "line 14: sessions must be a whole number above zero"),
        ('"cuda:1"', '"gpu1"', "line 15: gpus must be a list"),
        ("seeds = [3, 5]", "seeds = [3, 3]", "line 2: a seed stands twice"),
        ("seeds = [3, 5]", "seeds = [3]\nrepeats = 2", "line 2: seeds and repeats say the same"),
        ("seeds = [3, 5]", "repeats = 0", "line 2: repeats must be 1 to 1000"),
        ('model = "offline"', 'model = "repeat"', "a model of an experiment cannot be called"),
        ("set = {", 'device = "cpu"\nset = {', "line 19: there is no key 'device' in [configurations.nar"),
        ("set = { width = 3, keep_best = true }", "set = 3", "line 19: set must be a table"),
        ("queries = 30", "models = 30", "line 23: there is no key 'models' in [configurations.wide.2]. Did"),
        ("[places]", "[places", "is not TOML"),
        ('["starter/softmax", "mine/*.py"]', "[1]", "line 1: tasks must be a list of names"),
    ],
)  # fmt: skip
def test_a_refusal_names_line_key_and_the_nearest_spelling(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in GOOD
    with pytest.raises(WrongUsage) as refused:
        read(tmp_path, GOOD.replace(old, new))
    assert says in str(refused.value)


def test_a_file_without_a_configuration_says_how_one_is_written(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"\[configurations.NAME\] is one"):
        read(tmp_path, 'tasks = ["starter"]\n')
