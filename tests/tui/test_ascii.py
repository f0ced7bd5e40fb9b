"""A locale without UTF-8, a terminal without colours, a terminal that is none."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tui.looking import press, settled, shown
from workbench import theme
from workbench.actions import ACTS
from workbench.glyphs import UNICODE
from workbench.widgets.lines import ascii_only
from workbench.widgets.steer_form import SAYS

if TYPE_CHECKING:
    from tests.tui.conftest import Stage


@pytest.mark.parametrize("keys", [(), ("enter",), ("v",), ("s",), ("q",), ("question_mark",)])
async def test_an_ascii_locale_gets_ascii_only(stage: Stage, keys: tuple[str, ...]) -> None:
    async with stage.app(unicode=False).run_test(size=(110, 34)) as pilot:
        await settled(pilot)
        if keys:
            await press(pilot, *keys)
        assert [c for c in shown(pilot) if not c.isascii()] == []


def test_half_an_interval_is_not_taken_for_what_is_not_confirmed() -> None:
    assert ascii_only("best 1.41×~ ±0.02 ≈1") == "best 1.41x~ +-0.02 ~1"


async def test_the_session_list_is_ascii_too(stage: Stage) -> None:
    async with stage.app(on_list=True, unicode=False).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert [c for c in shown(pilot) if not c.isascii()] == []


def test_a_dumb_terminal_is_refused_with_the_plain_command() -> None:
    code = "import sys; from workbench.app import run; sys.exit(run(None))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TERM": "dumb"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--plain" in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"TERM": "xterm-256color"}, "pike-dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "pike-dark"),
        ({"TERM": "linux"}, "pike-16"),
        ({"TERM": "xterm"}, "pike-16"),
        ({"TERM": "xterm", "TEXTUAL_DRIVER": "web"}, "pike-dark"),
    ],
)
def test_the_theme_suits_the_terminal(environ: dict[str, str], name: str) -> None:
    assert theme.choose(environ) == name


def test_every_theme_defines_every_token() -> None:
    tokens = set(theme.defaults())
    for one in theme.THEMES:
        assert tokens <= set(one.variables)


def test_none_of_our_own_signs_is_lost_in_ascii() -> None:
    words = [f"{act.shown} {act.help} {act.label}" for act in ACTS]
    words += [*SAYS.values(), "█ µs", *UNICODE.sessions.values(), *UNICODE.verdicts.values()]
    for text in words:
        assert ascii_only(text).count("?") == text.count("?"), text
