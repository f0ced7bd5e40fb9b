"""The form of a new session as text: what stands in it at first, and what `pike run` makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions import strategy_choice
from workbench import config, run_line
from workbench.errors import WrongUsage
from workbench.starting import Wish

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.facts import Opened
    from workbench.config import Settings, Value
    from workbench.starting import At

Values = dict[str, str]
"""Field name, which is the flag's, to text."""

AGAIN = ("strategy", "model", "ideas_model", "fix_model", "queries", "cost", "time", "precision")
"""What is taken over from the last session, where neither a file nor the environment sets it."""
SAME = ("ideas_model", "fix_model")
"""Left empty, they are the model."""


def prefilled(settings: Settings, last: Opened | None) -> Values:
    """Return what stands in the form at first: the settings; the last session where they are silent."""
    values = {name: text(settings, name) for name in run_line.FLAGS}
    values |= dict.fromkeys(("task", "set", "name", "seed", "from", "instructions"), "")
    if last is None:
        return values
    before = _before(last)
    silent = [name for name in AGAIN if settings.values[name].origin == "default"]
    return {**values, **{name: before[name] for name in silent}, "task": last.task}


def text(settings: Settings, name: str) -> str:
    """Return a setting as it stands in a form: `none` for a limit that is taken away."""
    if settings[name] is None:
        return config.NO_LIMIT if config.BY_NAME[name].kind == "limit" else ""
    number = settings[name]
    return f"{number:g}" if isinstance(number, float) else str(number)


def _before(last: Opened) -> Values:
    limits = {
        name: config.NO_LIMIT if (limit := last.limits.get(key)) is None else f"{limit:g}"
        for name, key in (("queries", "queries"), ("cost", "cost_usd"), ("time", "hours"))
    }
    model = last.models.get("improve", "")
    others = {
        name: "" if last.models.get(role, model) == model else last.models[role]
        for name, role in (("ideas_model", "ideas"), ("fix_model", "fix"))
    }
    about = {"strategy": strategy_choice.typed(last), "model": model, "precision": last.precision}
    return {**limits, **others, **about}


def read(values: Mapping[str, str], settings: Settings, at: At) -> tuple[Wish, dict[str, Value]]:
    """Return the session that the form means, and the flags that would be typed for it.

    A field that says what the settings say anyway is no flag.

    Raises:
        WrongUsage: a field that cannot be meant; `at` was told which.
    """
    said = {name: values.get(name, "").strip() for name in (*run_line.FLAGS, *_MORE)}
    at("task")
    if not said["task"]:
        raise WrongUsage("which task? A file's path, or a name such as starter/softmax.")
    at("seed")
    wish = Wish(
        task=said["task"],
        name=said["name"],
        seed=_whole(said["seed"]),
        assign=said["set"].split(),
        origin=said["from"],
        instructions=said["instructions"],
    )
    typed = {name: _flag(name, said, settings, at) for name in run_line.FLAGS}
    return wish, typed


_MORE = ("task", "set", "name", "seed", "from", "instructions")


def _flag(name: str, said: Mapping[str, str], settings: Settings, at: At) -> Value:
    value, known = said[name], text(settings, name)
    if value == known:
        return None
    if value or name not in (*SAME, "notify", "python"):
        return value or None
    if name in SAME:
        return said["model"] or None
    at(name)
    origin = settings.values[name].origin
    raise WrongUsage(f"{origin} says {known}; take it out there to have none.")


def _whole(text: str) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError as error:
        raise WrongUsage(f"the seed is {text!r}, but must be a whole number.") from error
