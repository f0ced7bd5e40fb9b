"""Mixed clients and faults for some seconds, after which nothing is left; `python -m bench.soak` does it for longer."""

from __future__ import annotations

import pytest

from bench.soak import run


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_after_clients_and_faults_of_all_kinds_nothing_is_left() -> None:
    found = run(minutes=0.2, clients=4, seed=1, least=20)
    assert found.is_clean, found
    assert len(found.left) == 7
