"""What holds for every test: how many examples a property gets, and a GPU where one is needed."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("PIKE_PROPERTY_EXAMPLES", "100"))
settings.register_profile(
    "pike", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pike")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip GPU tests, with the reason, where there is no GPU."""
    if shutil.which("nvidia-smi") is not None:
        return
    skip = pytest.mark.skip(reason="no NVIDIA GPU here; run `make test-gpu` on a machine with one")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)
