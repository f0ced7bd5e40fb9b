"""Colour themes: dark, light, and one for terminals of 16 colours. Blue is better, orange is worse.

Each defines the same design tokens, `$pike-…`; style sheets name tokens only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES, Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

_DARK = {
    "pike-dim": "#7f8894",
    "pike-line": "#39414c",
    "pike-focus": "#5cc4b4",
    "pike-better": "#6cb2f5",
    "pike-worse": "#ee8a55",
    "pike-warn": "#e2c04f",
    "pike-busy": "#9db4c0",
    "pike-best": "#8fd0ff",
    "pike-cursor": "#2a3645",
    "pike-cursor-away": "#1e252e",
    "pike-added": "#14293f",
    "pike-added-word": "#1f4a75",
    "pike-removed": "#3a2318",
    "pike-removed-word": "#6a3a20",
    "pike-match": "#4a431f",
    "pike-code-keyword": "#b9a2ee",
    "pike-code-string": "#a8c69a",
    "pike-code-number": "#e0b47c",
    "pike-code-comment": "#6f7985",
    "pike-code-name": "#8cc3ea",
    "pike-code-type": "#78c2bd",
}

_LIGHT = {
    "pike-dim": "#66707c",
    "pike-line": "#c3cad2",
    "pike-focus": "#0f7f70",
    "pike-better": "#0b5fb0",
    "pike-worse": "#b4490f",
    "pike-warn": "#8a6a00",
    "pike-busy": "#4f6470",
    "pike-best": "#00509e",
    "pike-cursor": "#d3e1ee",
    "pike-cursor-away": "#e6ebf0",
    "pike-added": "#dcebfb",
    "pike-added-word": "#b3d4f5",
    "pike-removed": "#fae3d6",
    "pike-removed-word": "#f3c3a5",
    "pike-match": "#f5ebb5",
    "pike-code-keyword": "#6a3fb5",
    "pike-code-string": "#3f6f2c",
    "pike-code-number": "#935a00",
    "pike-code-comment": "#7c8590",
    "pike-code-name": "#0b5fb0",
    "pike-code-type": "#0f6f6a",
}

_SIXTEEN = {
    "pike-dim": "ansi_bright_black",
    "pike-line": "ansi_default",
    "pike-focus": "ansi_cyan",
    "pike-better": "ansi_bright_blue",
    "pike-worse": "ansi_yellow",
    "pike-warn": "ansi_bright_yellow",
    "pike-busy": "ansi_cyan",
    "pike-best": "ansi_bright_blue",
    "pike-cursor": "ansi_blue",
    "pike-cursor-away": "ansi_default",
    "pike-added": "ansi_default",
    "pike-added-word": "ansi_blue",
    "pike-removed": "ansi_default",
    "pike-removed-word": "ansi_yellow",
    "pike-match": "ansi_magenta",
    "pike-code-keyword": "ansi_magenta",
    "pike-code-string": "ansi_green",
    "pike-code-number": "ansi_default",
    "pike-code-comment": "ansi_bright_black",
    "pike-code-name": "ansi_bright_blue",
    "pike-code-type": "ansi_cyan",
}

DARK = Theme(
    name="pike-dark",
    primary="#5cc4b4",
    secondary="#6cb2f5",
    accent="#5cc4b4",
    warning="#e2c04f",
    error="#ee8a55",
    success="#6cb2f5",
    foreground="#d3d9e0",
    background="#12161b",
    surface="#12161b",
    panel="#1a2027",
    variables={**_DARK, "scrollbar": "#2a323c", "scrollbar-background": "#12161b"},
)

LIGHT = Theme(
    name="pike-light",
    primary="#0f7f70",
    secondary="#0b5fb0",
    accent="#0f7f70",
    warning="#8a6a00",
    error="#b4490f",
    success="#0b5fb0",
    foreground="#1f262d",
    background="#f7f8f9",
    surface="#f7f8f9",
    panel="#eceff2",
    dark=False,
    variables={**_LIGHT, "scrollbar": "#ccd3da", "scrollbar-background": "#f7f8f9"},
)

SIXTEEN = replace(
    BUILTIN_THEMES["ansi-dark"],
    name="pike-16",
    variables={**BUILTIN_THEMES["ansi-dark"].variables, **_SIXTEEN},
)
"""Textual's own theme in the terminal's colours, with our tokens."""

THEMES = (DARK, LIGHT, SIXTEEN)

COLOUR_POOR = ("xterm", "linux", "vt100", "vt220", "screen", "ansi")
"""Values of TERM that promise no more than 16 colours."""


def defaults() -> dict[str, str]:
    """Return the tokens for a theme that does not define them itself."""
    return dict(_DARK)


def choose(environ: Mapping[str, str], wanted: str = "") -> str:
    """Return the theme for this terminal; `wanted` is `dark`, `light`, `ansi` or empty."""
    served = bool(environ.get("TEXTUAL_DRIVER"))  # in a browser, whatever TERM the server had
    rich = served or environ.get("COLORTERM") in ("truecolor", "24bit")
    poor = not rich and environ.get("TERM", "") in COLOUR_POOR
    if wanted == "ansi" or (poor and not wanted):
        return SIXTEEN.name
    return LIGHT.name if wanted == "light" else DARK.name
