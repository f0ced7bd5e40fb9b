"""The manual holds every command, key and setting; the README counts the cheats there are; links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the file or folder, and the heading, of each link of a page into this repository."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    inside = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    pairs = [link.partition("#") for link in inside]
    return [(page.parent / path if path else page, heading) for path, _, heading in pairs]


def headings(page: Path) -> set[str]:
    """Return the names under which a page's headings are linked."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    for target, heading in links(page):
        assert target.exists(), target
        assert not heading or heading in headings(target), f"{target.name}#{heading}"


def test_every_page_is_reached_from_the_readme() -> None:
    reached, ahead = set[Path](), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop().resolve()
        if page not in reached:
            reached.add(page)
            found = [target for target, _ in links(page) if target.suffix in ("", ".md")]
            ahead += [p for t in found for p in (t.glob("*.md") if t.is_dir() else [t]) if p.suffix]
    assert [page for page in PAGES if page.resolve() not in reached] == []


def test_the_pages_hold_every_command_key_setting_and_count_as_the_program_has_them() -> None:
    done = subprocess.run(
        [sys.executable, "docs/make_manual.py", "--check"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
