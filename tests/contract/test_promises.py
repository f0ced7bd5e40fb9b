"""The README keeps its word: its promises have tests, its commands exist, its files are there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.promises import PROMISES
from workbench.arguments import BY_NAME, parse

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def shown_commands(page: str) -> list[str]:
    """Return every `pike …` that a page shows, in blocks and in running text."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", page, re.M | re.S)
    typed = [line for block in blocks for line in block.splitlines() if line.startswith("pike ")]
    inline = re.findall(r"`(pike [^`]+)`", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))
    return [line.partition("  #")[0].strip() for line in (*typed, *inline)]


@pytest.mark.parametrize(("words", "test"), PROMISES.items())
def test_a_promise_stands_in_the_readme_and_has_its_test(words: str, test: str) -> None:
    assert flat(words) in flat(README), "the README does not say this any more"
    assert "def test_" in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("line", shown_commands(README))
def test_a_command_the_readme_shows_is_one_that_pike_understands(line: str) -> None:
    assert parse(shlex.split(line)[1:]).command in BY_NAME


def test_the_tools_the_readme_names_are_the_tools() -> None:
    named = re.search(r"^Tools: (.*?)\n\n", README, re.M | re.S)
    assert named
    listed = json.loads((ROOT / "tests/mcp_server/tools.json").read_text(encoding="utf-8"))
    tools = [tool["name"] for tool in listed]
    assert set(re.findall(r"`(\w+)`", named[1])) == set(tools) - {"evaluate_kernel"}


def test_every_file_the_readme_links_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert not missing
