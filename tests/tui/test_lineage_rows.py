"""The tree of lineages, made again only where something happened: it is the one that is made at once."""

from __future__ import annotations

import pytest

from sessions import facts as f
from sessions.fold import fold
from tests.tui import journals
from workbench.widgets.lineage_tree import LineageRows, lineage_rows


def facts(*, steered: bool) -> list[f.Fact]:
    """Return a made-up search; `steered`: its best attempt so far is banned twice on the way, and let go once."""
    bodies: list[f.Body] = [b for _, several, _ in journals.script(60).steps for b in several]
    found: list[f.Body] = []
    for number, body in enumerate(bodies, 1):
        found.append(body)
        if steered and number in (150, 260, 330):
            state = fold(f.Fact(n, float(n), b) for n, b in enumerate(found, 1))
            assert state.leader is not None
            names = list(state.bans) if number == 330 else [state.leader.id]
            args = {"candidates": names, "off": number == 330}
            found.append(f.Steered(f"s{number}", number, "ban", args, "ann", applied=True))
    return [f.Fact(n, float(n), body) for n, body in enumerate(found, 1)]


@pytest.mark.parametrize("steered", [False, True])
@pytest.mark.parametrize("at_once", [1, 7, 40])
def test_rows_made_bit_by_bit_are_those_made_at_once(at_once: int, *, steered: bool) -> None:
    every, maker = facts(steered=steered), LineageRows()
    state = fold(every[:10])
    for place in range(10, len(every), at_once):
        new = every[place : place + at_once]
        fold(new, state)
        maker.touch(new, state)
        unfolded = list(state.lineages)[:3]
        assert maker.rows(state, unfolded) == lineage_rows(state, unfolded)
