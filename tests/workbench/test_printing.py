"""Where a command's words go."""

from __future__ import annotations

import io
import json

from tests.workbench.commanding import Terminal
from workbench.printing import Printer, columns


def test_data_and_talk_go_their_own_ways() -> None:
    out, err = io.StringIO(), io.StringIO()
    printer = Printer(out, err)
    printer.data("a row")
    printer.talk("a hint")
    assert (out.getvalue(), err.getvalue()) == ("a row\n", "a hint\n")


def test_everything_printed_is_inert_whoever_wrote_it() -> None:
    out, err = io.StringIO(), io.StringIO()
    printer = Printer(out, err)
    printer.data("\x1b]0;title\x07")
    printer.talk("\u202eevil")
    printer.table(("a",), [("x\ny\x1b",)])
    printer.json({"text": "\x1b[2J"})
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in err.getvalue()
    assert len(out.getvalue().splitlines()) == 4


def test_stored_text_is_verbatim_in_a_pipe_and_inert_on_a_terminal() -> None:
    piped, seen = io.StringIO(), Terminal()
    Printer(piped, piped).verbatim("# \x1b[31mred\n")
    Printer(seen, seen).verbatim("# \x1b[31mred\n")
    assert piped.getvalue() == "# \x1b[31mred\n"
    assert seen.getvalue() == "# ␛[31mred\n"


def test_json_is_one_line_that_reads_back() -> None:
    out = io.StringIO()
    Printer(out, out).json({"text": "é\n\u2028"})
    assert len(out.getvalue().splitlines()) == 1
    assert json.loads(out.getvalue()) == {"text": "é\n\u2028"}


def test_long_talk_is_folded_between_words_on_a_terminal_only() -> None:
    words = "a word and another " * 40
    seen, piped = Terminal(), io.StringIO()
    Printer(io.StringIO(), seen).talk(words)
    Printer(io.StringIO(), piped).talk(words)
    assert len(seen.getvalue().splitlines()) > 1
    assert len(piped.getvalue().splitlines()) == 1
    assert seen.getvalue().split() == words.split()


def test_columns_line_up_left_and_right() -> None:
    assert columns([["id", "ms"], ["c12", "0.1"], ["c3", "12.5"]], [False, True]) == [
        "id     ms",
        "c12   0.1",
        "c3   12.5",
    ]
