"""What really reaches a terminal when everything shown is an attack on it: only what Textual itself sends."""

from __future__ import annotations

import base64
import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.folder import SessionFolder
from sessions.lock import EngineLock
from tests.terminal import hostile_session
from tests.terminal.hostile_session import ATTACKS, SEEN, TEXT
from tests.terminal.pseudo import Pseudo, sequences, words

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.terminal

PRODUCT = Path(__file__).parents[2]
COLOURS = r"[34]8;2;\d+;\d+;\d+"
OURS = re.compile(
    r"\x1b\[\d+;\d+H"
    rf"|\x1b\[(?:0|(?:[1-479];)*{COLOURS}(?:;{COLOURS})?)?m"
    r"|\x1b\[\?(?:1000|1003|1004|1006|1015|2004)[hl]"  # mouse, focus, paste
    r"|\x1b\[\?(?:1049|25|7)[hl]"  # the screen, the cursor, wrapping: counted besides
    r"|\x1b\[\?(?:2026|2048)\$p|\x1b\[>25u|\x1b\[<u"
    r"|\x1b\[2[23];2t"
    r"|\x1b\]22;default\x07"
    r"|\x1b\]2;[^\x00-\x1f\x7f-\x9f]*\x07"
)
"""What Textual sends for itself, and the window's title."""
TITLES = re.compile(r"\x1b\]2;(.*)\x07")
ONCE = ("\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b[?25h")
READ_AS_ORDER = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def strange(written: str, *, screen: bool) -> list[str]:
    """Return what a terminal would obey that is not ours to send."""
    found = [s for s in sequences(written) if not (screen and OURS.fullmatch(s))]
    found += [title for title in TITLES.findall(written) if "hacked" in title.partition("␛")[0]]
    found += [s for s in ONCE if screen and written.count(s) > 1]
    return found + [repr(c) for c in dict.fromkeys(words(written)) if obeyed(c)]


def obeyed(c: str) -> bool:
    """Return whether a character that stands alone changes the terminal or the order of reading."""
    if unicodedata.bidirectional(c) in READ_AS_ORDER or c in "\u200e\u200f\u061c\u2028\u2029":
        return True
    return unicodedata.category(c) in ("Cc", "Cs") and c not in "\r\n\t\x07"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Hostile sessions: one with an engine alive, one finished, one whose folder's name is an attack."""
    hostile_session.build(tmp_path / "sessions/alive")
    hostile_session.build(tmp_path / "sessions/over", finished=True)
    hostile_session.build(tmp_path / "sessions" / ATTACKS[4])
    broken = tmp_path / "sessions/broken"
    broken.mkdir()
    (broken / "journal.db").write_bytes(TEXT.encode() * 50)
    lock = EngineLock.take(SessionFolder(tmp_path / "sessions/alive"))
    yield tmp_path
    lock.release()


def start(home: Path, *line: str, columns: int = 80, rows: int = 24) -> Pseudo:
    env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "PAGER")}
    env |= {"PIKE_HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONPATH": str(PRODUCT)}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    return Pseudo.start([sys.executable, "-m", "workbench", *line], env, columns, rows)


def escape(seen: Pseudo, word: str) -> None:
    """Press escape and wait for what it uncovers; a key that followed at once would be read with it."""
    seen.press(b"\x1b")
    seen.until(word)
    seen.drain(0.3)


def leave(seen: Pseudo) -> None:
    """Leave at once, and read all that is written on the way out."""
    seen.press(b"\x11")
    assert seen.to_the_end() == 0


def press_each(seen: Pseudo, *keys: bytes) -> None:
    for key in keys:
        seen.press(key)
        seen.drain(0.3)


TABS = ("# change:", "asked", "Evidence", "Against the machine", "What happened", "to original c0")
"""What stands on each tab: code, prompt, verdict, profile, log, and round to the difference."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("columns", "rows"), [(160, 44), (80, 24)])
def test_no_screen_of_a_hostile_session_sends_what_is_in_it(
    home: Path, columns: int, rows: int
) -> None:
    seen = start(home, "attach", "alive", columns=columns, rows=rows)
    seen.until("2 Attempts", "newest first", "? Help")
    press_each(seen, b"j", b"j", b"\r")
    for tab in TABS:
        seen.press(b"]")
        seen.until(tab)
    press_each(seen, b"1", b"4", b"2", b"s")
    seen.until("Words for the agents")
    leave(seen)
    assert words(seen.text).count(SEEN) >= len(TABS)
    assert strange(seen.text, screen=True) == []


@pytest.mark.timeout(300)
def test_the_screens_around_it_send_nothing_of_it_either(home: Path) -> None:
    seen = start(home, columns=110, rows=34)
    seen.until("Sessions", "? Help", "alive", "over", "? unreadable broken")
    seen.press(b"?")
    seen.until("unfold a lineage")
    escape(seen, "c Compare")
    seen.press(b"n")
    seen.until("New session", "ctrl+j")
    seen.drain(1.0)
    escape(seen, "c Compare")
    press_each(seen, b"g", b" ", b"j", b" ", b"c")
    seen.until("Compare")
    escape(seen, "c Compare")
    press_each(seen, b"g", b"\r")
    seen.until("2 Attempts", "newest first", "Help")
    press_each(seen, b"G", b" ", b"k", b"k", b" ", b"c")
    seen.until("reached after", "Diff c")
    press_each(seen, b"G")
    leave(seen)
    assert SEEN in words(seen.text)
    assert strange(seen.text, screen=True) == []


def test_what_is_copied_reaches_the_clipboard_and_nothing_else(home: Path) -> None:
    seen = start(home, "attach", "alive")
    seen.until("2 Attempts", "newest first", "? Help")
    seen.press(b"G")
    seen.drain(0.3)
    seen.press(b"\r")
    seen.until("3 c1", "hunk 1/1")
    seen.press(b"Y")
    seen.until("characters: sent")
    leave(seen)
    (copied,) = [s for s in sequences(seen.text) if s.startswith("\x1b]52;")]
    sent = base64.b64decode(copied.removeprefix("\x1b]52;c;").removesuffix("\x07"), validate=True)
    assert b"]52;c;aGFja2Vk" in sent
    assert [s for s in strange(seen.text, screen=True) if s != copied] == []


COMMANDS = (
    ("sessions",),
    ("show", "alive"),
    ("show", "alive", "c1"),
    ("show", "alive", "c2"),
    ("tail", "over"),
    ("steer", "alive", "list"),
    ("best", "over"),
    ("compare", "over", "c1", "c3", "--diff"),
    ("compare", "alive", "over"),
    ("git", "over", "--", "log", "--format=%an %s%n%b"),
    ("git", "over", "--", "show", "--color=always", "main"),
    ("config",),
    ("show", "over", f"c9{TEXT.replace(chr(0), '')}"),
    ("show", TEXT.replace("\0", "")),
    (TEXT.replace("\0", ""),),
)
OWN_WORDS = (("config",), ("compare", "over", "c1", "c3", "--diff"), COMMANDS[-1])
"""Commands that show nothing of the first attack, or its escapes."""


@pytest.mark.timeout(300)
def test_no_plain_command_sends_what_is_in_a_session(home: Path) -> None:
    for line in COMMANDS:
        said = start(home, *line)
        said.to_the_end()
        assert "Traceback" not in said.text, line
        assert strange(said.text, screen=False) == [], line
        assert said.text.strip(), line
        assert line in OWN_WORDS or "␛]" in said.text, line


@pytest.mark.parametrize("text", [a for a in ATTACKS if not a.startswith("a [")])
def test_the_check_itself_sees_each_attack(text: str) -> None:
    assert strange(f"\x1b[0m fine {text} fine", screen=True)
    assert strange(f"fine {text} fine", screen=False)


def test_the_check_itself_lets_through_what_textual_sends() -> None:
    ours = "\x1b[?1049h\x1b[1;1H\x1b[1;38;2;1;2;3;48;2;4;5;6mfine\x1b[0m\x1b]2;pike s\x07\r\n"
    assert strange(ours, screen=True) == []
