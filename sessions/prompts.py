"""Reads the prompt templates that ship with the strategies."""

from __future__ import annotations

from importlib import resources

from strategies.templates import Templates, parse


def load() -> Templates:
    """Return every template, checked; `digest` is the session's template hash.

    Raises:
        TemplateRefused: the installation is damaged.
    """
    folder = resources.files("strategies").joinpath("prompts")
    files = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".md")
    }
    return parse(files)
