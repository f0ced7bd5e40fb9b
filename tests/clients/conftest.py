"""What the tests of real clients share: each client, installed, and the state folder of the server they start."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.clients.starting import NODE, PACKAGES, installed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's state folder: what is known of the task serves every run."""
    return tmp_path_factory.mktemp("clients") / "pike"


@pytest.fixture(params=sorted(PACKAGES))
def client(request: pytest.FixtureRequest) -> str:
    """Each client, installed."""
    name: str = request.param
    try:
        installed(*NODE)
        installed(name, PACKAGES[name])
    except subprocess.SubprocessError:
        pytest.skip(f"npm could not install {name}")
    return name
