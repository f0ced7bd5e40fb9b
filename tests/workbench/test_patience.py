"""What is waited for is said once it takes long, and not before."""

from __future__ import annotations

import threading

from workbench.patience import told_if_slow


def test_a_long_wait_is_explained_while_it_lasts() -> None:
    said: list[str] = []
    spoken = threading.Event()

    def say(words: str) -> None:
        said.append(words)
        spoken.set()

    with told_if_slow(say, "ray is asked", after_s=0.01):
        assert spoken.wait(30)
    assert said == ["ray is asked"]


def test_a_short_wait_is_not() -> None:
    said: list[str] = []
    with told_if_slow(said.append, "ray is asked", after_s=600):
        pass
    assert said == []
