"""What two names of devices say: one model, or two."""

from __future__ import annotations

import pytest

from mcp_server.executor import same_model


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("NVIDIA H200", "nvidia h200", True),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", True),
        ("NVIDIA H200", "", True),
        ("NVIDIA A10", "NVIDIA A100-SXM4-80GB", False),
        ("NVIDIA H100", "NVIDIA H100 PCIe", False),
        ("NVIDIA L4", "NVIDIA L40S", False),
    ],
)
def test_a_name_within_another_is_not_the_same_model(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same
    assert same_model(other, one) is same
