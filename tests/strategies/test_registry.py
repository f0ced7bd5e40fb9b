"""Strategies by name, their settings read and refused."""

from dataclasses import FrozenInstanceError, asdict

import pytest

from strategies import registry
from strategies.errors import SettingRefused, UnknownStrategy
from strategies.options import ALL_ON, Options, held
from strategies.settings import Value


def test_pike_b_has_the_papers_defaults() -> None:
    described = {d.name: d.default for d in registry.describe("pike-b")}
    assert described == {
        "queries": 300,
        "width": 10,
        "places": 10,
        "top": 4,
        "fixes": 5,
        "ideas": 10,
        "seed_rule": "global",
        "keep_best": False,
        "fix_memory": 0,
        "plain_start": False,
        "informed": False,
        "profile_guided": False,
        "agent_tools": False,
        "tool_rounds": 6,
    }


@pytest.mark.parametrize("name", registry.searching())
def test_every_name_can_be_created_and_says_what_it_and_its_settings_are(name: str) -> None:
    strategy = registry.create(name, {}, seed=1)
    assert strategy.waits is False
    assert registry.says(name)
    for described in registry.describe(name):
        assert described.meaning
        assert described.type
        assert registry.entry(name).complete({})[described.name] == described.default
        if described.name not in asdict(Options()):
            assert getattr(strategy.settings, described.name) == described.default


def test_only_steady_turns_on_what_the_paper_does_not_have() -> None:
    for name in registry.names():
        whole = registry.entry(name).complete({})
        assert {whole[option] for option in ALL_ON} == {name == "steady"}
        assert whole["agent_tools"] is False


def test_tools_are_turned_on_by_a_person_alone_for_so_many_rounds() -> None:
    whole = registry.entry("steady").complete({"agent_tools": "on", "tool_rounds": "3"})
    assert held(whole) == Options(True, True, True, agent_tools=True, tool_rounds=3)
    assert held({"agent_tools": True}).tool_rounds == 6
    with pytest.raises(SettingRefused, match="tool_rounds is '1', but must be"):
        registry.create("pike-b", {"tool_rounds": "1"}, 1)


def test_an_option_can_be_set_for_any_strategy_and_is_no_setting_of_its_own() -> None:
    whole = registry.entry("pike-b").complete({"plain_start": "on", "width": "4"})
    assert (whole["plain_start"], whole["informed"], whole["width"]) == (True, False, 4)
    assert held(whole) == Options(plain_start=True)
    assert held({"width": 4}) == Options()
    strategy = registry.create("pike-b", whole, 1)
    assert not hasattr(strategy.settings, "plain_start")
    with pytest.raises(SettingRefused, match="plain_start is 'perhaps', but must be: yes or no"):
        registry.create("pike-b", {"plain_start": "perhaps"}, 1)


def test_a_preset_holds_under_its_name_and_yields_to_what_is_set() -> None:
    assert registry.create("pike-b-nofix", {}, 1).settings.fixes == 0
    assert registry.create("pike-b-nofix", {"fixes": 2}, 1).settings.fixes == 2
    assert registry.create("pike-b", {}, 1).settings.fixes == 5


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("width", "12", 12),
        ("width", 12.0, 12),
        ("fixes", 0, 0),
        ("keep_best", "yes", True),
        ("keep_best", "OFF", False),
        ("keep_best", True, True),
        ("keep_best", 1, True),
        ("seed_rule", " branch-first ", "branch-first"),
    ],
)
def test_values_are_read_from_text_or_taken_as_they_are(
    key: str, given: Value, value: Value
) -> None:
    assert getattr(registry.create("pike-b", {key: given}, 1).settings, key) == value


@pytest.mark.parametrize(
    ("key", "given", "must_be"),
    [
        ("width", "ten", "whole number, 1 to 1000"),
        ("width", 0, "whole number"),
        ("width", "nan", "whole number"),
        ("width", "inf", "whole number"),
        ("width", 2.5, "whole number"),
        ("width", True, "whole number"),
        ("ideas", 11, "whole number, 0 to 10"),
        ("keep_best", "perhaps", "yes or no"),
        ("seed_rule", "best", "global or branch-first"),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_it_must_be(
    key: str, given: Value, must_be: str
) -> None:
    with pytest.raises(SettingRefused, match=f"pike-b: {key} is '{given}', but must be: {must_be}"):
        registry.create("pike-b", {key: given}, 1)


def test_an_unknown_key_is_refused_with_the_nearest_spelling() -> None:
    with pytest.raises(SettingRefused, match=r"no setting 'fixs'; did you mean 'fixes'.*queries"):
        registry.create("pike-b", {"fixs": 1}, 1)


def test_an_unknown_key_like_no_other_is_refused_with_the_list() -> None:
    with pytest.raises(SettingRefused, match=r"no setting 'zzz'[.] Its settings: queries, width"):
        registry.create("pike-b", {"zzz": 1}, 1)


def test_an_unknown_strategy_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownStrategy, match="No strategy 'pikeb'; did you mean 'pike-b'"):
        registry.create("pikeb", {}, 1)


def test_settings_cannot_change_under_a_running_search() -> None:
    settings = registry.create("pike-b", {}, 1).settings
    with pytest.raises((FrozenInstanceError, AttributeError)):
        settings.fixes = 9  # type: ignore[misc]
