"""Prompt templates: parsed once, refused early when a placeholder is unknown or missing.

A template is text with `{{placeholders}}`. A line that holds one alone vanishes, with the blank line
after it, where its value is empty. What stands before `{{varies}}` is the same in all prompts of that
kind in a session. `example-LANGUAGE` files hold worked examples; their first
paragraph says how the language is built.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.errors import TemplateRefused, hint
from strategies.protocol import PromptRole
from strategies.python import defines, parses

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES = "rules"
"""The template of the output rules, the end of every prompt that asks code."""
JUDGING = "judging"
"""The template of the evaluator's rules, part of every prompt that asks code."""
TOOLS = "tools"
"""The template of what follows a prompt whose agent may call tools."""
_VARIES = re.compile(r"^\{\{varies\}\}\n+", re.MULTILINE)
_EXAMPLE = "example-"

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_LONE = re.compile(r"^\{\{\s*([^{}]*?)\s*\}\}\n\n?", re.MULTILINE)
_SECTION = re.compile(
    r"^## (cpu|cuda|any): ([^\n]+)\n+```python\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL
)

_ASKED = ("machine", "languages", "original")
_CODED = ("original", "judging", "varies", "people", "rules")
_TOLD = ("examples", "known", "notes", "parent")
REQUIRED: Mapping[str, tuple[str, ...]] = {
    PromptRole.IDEAS: (*_ASKED, "known", "people"),
    PromptRole.START: (*_ASKED, *_CODED, "examples", "known", "notes", "idea"),
    PromptRole.IMPROVE: (*_ASKED, *_CODED, *_TOLD),
    PromptRole.CROSS: (*_ASKED, *_CODED, *_TOLD, "inspirations"),
    PromptRole.FIX_ERROR: (*_CODED, "failed", "earlier", "fault", "stdout", "stderr"),
    PromptRole.FIX_WRONG: (*_CODED, "examples", "failed", "earlier", "fault", "outputs"),
    PromptRole.FIX_REJECTED: (*_CODED, "failed", "earlier", "fault", "broken_rule"),
    PromptRole.FIX_UNCHECKED: (*_CODED, "failed", "earlier", "fault"),
    PromptRole.AGAIN: ("prompt", "fault"),
    RULES: (),
    JUDGING: ("precision",),
    TOOLS: ("rounds",),
}
"""What each template must show; it may show `OPTIONAL` besides, and nothing else."""
OPTIONAL = ("machine", "languages", "examples", "precision")


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example: a whole candidate."""

    device: str
    """`cpu`, `cuda`, or `any`."""
    title: str
    source: str


@dataclass(frozen=True, slots=True)
class LanguageGuide:
    """How one language is written and built."""

    summary: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Templates:
    """All templates, checked."""

    texts: Mapping[str, str]
    languages: Mapping[str, LanguageGuide]
    digest: str
    """SHA-256 over names and texts; the session's `opened` fact keeps it."""

    def fill(self, name: str, values: Mapping[str, str]) -> str:
        """Return the template with every placeholder replaced, values taken as they are."""
        return "".join(self.parts(name, values))

    def parts(self, name: str, values: Mapping[str, str]) -> tuple[str, str]:
        """Return the filled template before and after `{{varies}}`; all of it is after where that is not."""
        text = self.texts[name]
        found = _VARIES.search(text)
        before, after = (text[: found.start()], text[found.end() :]) if found else ("", text)
        return self._filled(before, values), self._filled(after, values)

    def _filled(self, text: str, values: Mapping[str, str]) -> str:
        def lone(match: re.Match[str]) -> str:
            return match.group() if values[match.group(1)] else ""

        text = _LONE.sub(lone, text)
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)


def parse(files: Mapping[str, str]) -> Templates:
    """Check templates by file name, with or without `.md`.

    Raises:
        TemplateRefused: one is missing, misses what it must show, or holds an unknown placeholder.
    """
    texts = {name.removesuffix(".md"): text for name, text in sorted(files.items())}
    for name in REQUIRED:
        if name not in texts:
            raise TemplateRefused(f"The prompt template {name}.md is missing.")
        _check(name, texts[name])
    guides = {
        name.removeprefix(_EXAMPLE): _guide(name, text)
        for name, text in texts.items()
        if name.startswith(_EXAMPLE)
    }
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()
    return Templates({name: texts[name] for name in REQUIRED}, guides, digest)


def _check(name: str, text: str) -> None:
    found = {match.group(1) for match in _PLACEHOLDER.finditer(text)}
    bare = (PromptRole.AGAIN, RULES, JUDGING, TOOLS)
    known = {*REQUIRED[name], *(() if name in bare else OPTIONAL)}
    for placeholder in sorted(found - known):
        says = f"{name}.md holds the unknown placeholder {{{{{placeholder}}}}}"
        raise TemplateRefused(f"{says}{hint(placeholder, known)}")
    if "varies" in found and not _VARIES.search(text):
        raise TemplateRefused(f"{name}.md: {{{{varies}}}} must be a line of its own.")
    for placeholder in REQUIRED[name]:
        if placeholder not in found:
            raise TemplateRefused(f"{name}.md must show {{{{{placeholder}}}}}, and does not.")


def _guide(name: str, text: str) -> LanguageGuide:
    examples = tuple(Example(*match.groups()) for match in _SECTION.finditer(text))
    if not examples or len(examples) != len(re.findall(r"^## ", text, re.MULTILINE)):
        form = "'## cpu|cuda|any: TITLE' and one python block"
        raise TemplateRefused(f"{name}.md: each example is a heading {form}.")
    for example in examples:
        if not parses(example.source) or not defines(example.source):
            raise TemplateRefused(f"{name}.md: '{example.title}' is no file with ModelNew.")
    return LanguageGuide(" ".join(text.split("\n## ", 1)[0].split()), examples)
