"""`pike replay`: judges an evidence bundle again and says whether its claim stands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import config, evaluator
from workbench.errors import DONE, FAILED, CannotGoOn, WrongUsage
from workbench.plain import inert_line

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

LINE_LIMIT = 600
"""Characters of the sentence."""


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Replay a bundle; 0 only if its claim stands here."""
    path = Path(typed.bundle).expanduser()
    if not path.is_file():
        raise WrongUsage(f"there is no file {typed.bundle}; `pike best S --bundle FILE` makes one.")
    names = ("device", "sandbox", "python")
    settings = config.load({name: getattr(typed, name) for name in names})
    told = {name: settings.text(name) for name in names}
    told["device"] = "" if told["device"] == "auto" else told["device"]
    found = _judged(["replay", str(path.absolute()), "--json", *evaluator.flags(**told)])
    if typed.json:
        printer.pretty(found)
    else:
        printer.data(str(inert_line(str(found.get("line")), LINE_LIMIT)))
    return DONE if found.get("claim") == "stands" else FAILED


def _judged(words: list[str]) -> dict[str, Any]:
    """Run the evaluator with its progress on our stderr."""
    done = subprocess.run(evaluator.command(*words), stdout=subprocess.PIPE, check=False)
    try:
        return dict(json.loads(done.stdout))
    except ValueError as error:
        kind = WrongUsage if done.returncode == 2 else CannotGoOn
        raise kind("the bundle was not judged, see above.") from error
