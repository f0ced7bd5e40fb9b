"""The terminal is told once that somebody is needed, and gets its title back."""

from __future__ import annotations

from workbench.announcing import BELL, GIVE_BACK, KEEP, Announcer
from workbench.app import is_calm


def titled(words: str) -> str:
    return f"\x1b]2;{words}\a"


def test_a_cause_rings_once_and_names_the_session_in_the_title() -> None:
    said: list[str] = []
    announcer = Announcer(said.append)
    announcer.of_one("conv-1", "")
    announcer.of_one("conv-1", "the key was refused")
    announcer.of_one("conv-1", "the key was refused")
    announcer.of_one("conv-1", "")
    assert said == [
        KEEP + titled("pike conv-1"),
        BELL,
        titled("▲ conv-1 needs you"),
        titled("pike conv-1"),
    ]
    assert announcer.farewell() == titled("") + GIVE_BACK


def test_another_cause_of_the_same_session_rings_again() -> None:
    said: list[str] = []
    announcer = Announcer(said.append, title=False)
    for cause in ("80 % of the queries are used", "the key was refused", "the key was refused"):
        announcer.of_one("conv-1", cause)
    assert said == [BELL, BELL]


def test_a_list_of_sessions_rings_for_the_new_one_only() -> None:
    said: list[str] = []
    announcer = Announcer(said.append, sign="^")
    announcer.of_one("a", "disk full")
    announcer.of_all({"a": "disk full"})
    announcer.of_all({"a": "disk full", "b": "no verdict"})
    assert said.count(BELL) == 2
    assert said[-1] == titled("^ a needs you and 1 more")


def test_bell_and_title_can_be_switched_off() -> None:
    said: list[str] = []
    announcer = Announcer(said.append, bell=False, title=False)
    announcer.of_one("conv-1", "disk full")
    announcer.of_all({"conv-2": "disk full"})
    assert said == []
    assert announcer.farewell() == ""


def test_no_name_can_send_the_terminal_anything_else() -> None:
    said: list[str] = []
    Announcer(said.append, bell=False).of_one("x\x07\x1b[31m", "y")
    assert said[0].count("\x1b") == 2, "keep and title, nothing of the name's"


def test_rates_halve_over_ssh_unless_told_otherwise() -> None:
    over_ssh = {"SSH_CONNECTION": "10.0.0.1 22 10.0.0.2 22"}
    assert is_calm("auto", over_ssh)
    assert not is_calm("auto", {})
    assert not is_calm("no", over_ssh)
    assert is_calm("yes", {})
