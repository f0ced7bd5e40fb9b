"""What holds for every test: how many examples a property gets, a GPU where one is needed, a machine of its own."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
settings.register_profile(
    "pike", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pike")


@pytest.fixture(autouse=True, scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What sessions of a machine share is shared with no search of this user's, and with no other worker's tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("machine")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip GPU tests, with the reason, where there is no GPU."""
    if shutil.which("nvidia-smi") is not None:
        return
    skip = pytest.mark.skip(reason="no NVIDIA GPU here; run `make test-gpu` on a machine with one")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)
