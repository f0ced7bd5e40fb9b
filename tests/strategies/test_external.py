"""external: a search whose attempts come from other programs."""

from __future__ import annotations

import json

import pytest

from strategies import registry
from strategies.errors import SettingRefused, StateRefused
from strategies.protocol import Candidate, View


def test_it_proposes_nothing_and_is_not_over_for_that() -> None:
    strategy = registry.create("external", {}, seed=3)
    original = Candidate("c0", "", "", 1.0)
    for queries in (0, 1, 300):
        assert strategy.propose(View(queries, 4, (), original)) == []
    assert strategy.waits
    assert (strategy.settings.queries, strategy.settings.fixes) == (0, 0)


def test_its_state_goes_through_json_and_another_versions_is_refused() -> None:
    strategy = registry.create("external", {}, seed=3)
    state = json.loads(json.dumps(strategy.dump()))
    strategy.load(state)
    assert strategy.dump() == state
    with pytest.raises(StateRefused, match="version 9 of external"):
        strategy.load({"version": 9})


def test_its_budgets_are_settings_and_queries_are_none() -> None:
    whole = registry.entry("external").complete({"attempts": "5", "idle_hours": "0.5"})
    assert (whole["attempts"], whole["idle_hours"]) == (5, 0.5)
    with pytest.raises(SettingRefused, match="has no setting 'queries'"):
        registry.create("external", {"queries": 9}, 1)
    with pytest.raises(SettingRefused, match=r"idle_hours is '0', but must be: number, 0.01 to"):
        registry.create("external", {"idle_hours": "0"}, 1)


def test_those_that_propose_by_themselves_are_all_the_others() -> None:
    assert set(registry.names()) - set(registry.searching()) == {"external"}
