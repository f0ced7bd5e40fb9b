"""`pike config`: every setting, its value and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench import config
from workbench.errors import DONE

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Print the settings."""
    settings = config.load()
    for warning in settings.warnings:
        printer.talk(f"pike: {warning}")
    if typed.json:
        printer.pretty(_json(settings))
        return DONE
    rows = [
        (setting.name, _shown(settings[setting.name]), settings.values[setting.name].origin, setting.meaning)
        for setting in config.SETTINGS
    ]  # fmt: skip
    printer.table(("setting", "value", "from", "meaning"), rows)
    _models(settings, printer)
    printer.talk(f"Settings file: {config.user_file()}; a project's: pike.toml in its folder.")
    return DONE


def _models(settings: config.Settings, printer: Printer) -> None:
    for name, table in settings.models.items():
        told = ", ".join(f"{key} = {value}" for key, value in table.items())
        printer.data(f"models.{name}: {told}  (from {settings.model_origins[name]})")
    for name, table in settings.evaluators.items():
        told = ", ".join(f"{key} = {value}" for key, value in table.items())
        printer.data(f"evaluators.{name}: {told or 'this machine'}")
    for act, key in settings.keys.items():
        printer.data(f"keys.{act}: {key}")


def _json(settings: config.Settings) -> dict[str, Any]:
    rows = [
        {"name": s.name, "value": settings[s.name], "origin": settings.values[s.name].origin, "default": s.default,
         "meaning": s.meaning, "variable": s.variable}
        for s in config.SETTINGS
    ]  # fmt: skip
    models = [
        {"name": name, "origin": settings.model_origins[name], **table}
        for name, table in settings.models.items()
    ]
    evaluators = [{"name": name, **table} for name, table in settings.evaluators.items()]
    keys = dict(settings.keys)
    return {"settings": rows, "models": models, "keys": keys, "evaluators": evaluators}


def _shown(value: config.Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
