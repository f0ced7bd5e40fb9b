"""Experiments on disk: who drives one, and who only looks."""

from __future__ import annotations

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pytest

from sessions.errors import SessionBusy
from sessions.experiments.folder import ExperimentFolder, RunnerLock

if TYPE_CHECKING:
    from pathlib import Path


def test_one_process_drives_and_everybody_sees_which(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    assert folder.driver is None
    lock = RunnerLock.take(folder)
    assert folder.driver == os.getpid()
    with pytest.raises(SessionBusy, match=f"driven by process {os.getpid()}"):
        RunnerLock.take(folder)
    lock.release()
    assert folder.driver is None


def test_who_only_looks_keeps_nobody_from_driving(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path)
    RunnerLock.take(folder).release()
    looks = os.open(tmp_path / "runner.lock", os.O_RDWR)
    fcntl.flock(looks, fcntl.LOCK_SH)  # as `driver` does, for a moment
    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(RunnerLock.take, folder)
        assert not wait([taking], 0.2).done
        os.close(looks)
        taking.result().release()
