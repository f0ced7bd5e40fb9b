"""`pike doctor`: what this machine has, and what to do about what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from workbench import config, doctor, evaluator, hosts
from workbench.commands import doctor_hosts
from workbench.errors import DONE, FAILED, WrongUsage
from workbench.patience import told_if_slow
from workbench.plain import inert_line

if TYPE_CHECKING:
    import argparse

    from workbench.machine import Row
    from workbench.printing import Printer

WORDS = {"ok": "ok", "warning": "!", "missing": "MISSING"}


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Print what was found; 1 if something without which nothing works is missing, or a self-test fails."""
    flags = {name: getattr(typed, name) for name in ("python", "device", "executor")}
    settings = config.load(flags)
    if typed.executor is not None:
        return _hosts(typed, settings, printer)
    if typed.facts:
        return _facts(settings, printer, as_json=typed.json)
    if typed.only and not typed.selftest:
        raise WrongUsage("--only chooses cases of the self-test: add --selftest.")
    rows = doctor.examine(settings)
    there = [] if typed.selftest else doctor.hosts_elsewhere(settings)
    missing = any(row.state == "missing" for row in rows)
    if typed.selftest:
        words = ["selftest", *_placed(settings), *([typed.only] if typed.only else [])]
        return _selftest(rows, words, printer, missing=missing, as_json=typed.json)
    if typed.json:
        rows = [*rows, *map(doctor.row_of, there)]
    _print(rows, printer, as_json=typed.json)
    if there and not typed.json:
        doctor_hosts.tell(there, printer)
    unusable = bool(there) and doctor_hosts.code(there) != DONE
    return FAILED if missing or unusable else DONE


def _hosts(typed: argparse.Namespace, settings: config.Settings, printer: Printer) -> int:
    """Print the machines of a cluster, of a table of the settings, or this one; 1 if none can be used."""
    if typed.selftest or typed.facts:
        raise WrongUsage(
            "--executor shows machines: leave out --selftest and --facts, or run them there."
        )
    with told_if_slow(printer.talk, _waits_for(typed.executor)):
        found = hosts.named(typed.executor, settings)
    if typed.json:
        printer.pretty(doctor_hosts.as_json(found))
    else:
        doctor_hosts.tell(found, printer)
    return doctor_hosts.code(found)


def _waits_for(executor: str) -> str:
    if hosts.is_cluster(executor):
        return (
            f"{inert_line(executor)} is asked for its machines; a head that no machine has joined, or that cannot be "
            "reached, is waited for up to a minute."
        )
    return f"{inert_line(executor)} is asked for its machines, and has not answered yet."


def _placed(settings: config.Settings) -> list[str]:
    device = settings.text("device")
    told = {"python": settings.text("python"), "device": "" if device == "auto" else device}
    return evaluator.flags(**told)


def _facts(settings: config.Settings, printer: Printer, *, as_json: bool) -> int:
    """Print what a device can do at most; the first time it is measured, which takes a few seconds."""
    found = evaluator.ask("facts", "--json", *_placed(settings))
    if as_json:
        printer.pretty(found)
        return DONE
    printer.data(f"{found['name']}: {found['title']}")
    for line in found["lines"]:
        printer.data(f"  {line}")
    return DONE


def _print(rows: list[Row], printer: Printer, *, as_json: bool) -> None:
    if as_json:
        printer.pretty([asdict(row) for row in rows])
        return
    printer.table(("", "what", "found"), [(WORDS[r.state], r.name, r.found) for r in rows])
    for row in rows:
        if row.remedy:
            printer.talk(f"{row.name}: {row.remedy}")


def _selftest(
    rows: list[Row], words: list[str], printer: Printer, *, missing: bool, as_json: bool
) -> int:
    if as_json:
        found = evaluator.answer(*words, "--json", limit_s=None)
        printer.pretty({"machine": [asdict(row) for row in rows], "selftest": found.json})
        return max(found.exit_code, FAILED if missing else DONE)
    _print(rows, printer, as_json=False)
    return max(evaluator.run(words), FAILED if missing else DONE)
