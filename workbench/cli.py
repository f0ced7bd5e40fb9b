"""The `pike` command: what was typed goes to its module; refusals become words and exit codes."""

from __future__ import annotations

import importlib
import logging
import os
import traceback
from typing import TYPE_CHECKING, Protocol, cast

from workbench.arguments import BY_NAME, parse
from workbench.errors import DONE, FAILED, INTERRUPTED, WorkbenchError
from workbench.printing import Printer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

log = logging.getLogger(__name__)


class CommandModule(Protocol):
    """What every module of `workbench.commands` offers."""

    def run(self, typed: argparse.Namespace, printer: Printer) -> int:
        """Carry the command out; return the exit code."""
        ...


def main(argv: Sequence[str], printer: Printer | None = None) -> int:
    """Carry out one command line; return the exit code. Nothing is raised for what a person can cause."""
    printer = printer or Printer()
    try:
        return _dispatch(argv, printer)
    except WorkbenchError as error:
        printer.talk(f"pike: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        printer.talk("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return DONE
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else FAILED
    except Exception as error:  # noqa: BLE001 - the boundary of a command
        return _unexpected(error, printer)


def _dispatch(argv: Sequence[str], printer: Printer) -> int:
    typed = parse(argv)
    if typed.version:
        from workbench.version import version

        printer.data(f"pike {version()}")
        return DONE
    name = str(typed.command) or "screens"
    command = BY_NAME.get(name)
    module = (command.module or command.name) if command else name
    return _module(module).run(typed, printer)


def _module(name: str) -> CommandModule:
    # A module is a CommandModule by having `run`; tests/workbench/test_cli.py checks every one.
    return cast("CommandModule", importlib.import_module(f"workbench.commands.{name}"))


def _unexpected(error: Exception, printer: Printer) -> int:
    from workbench.refusals import told

    words = told(error)
    if words is not None:
        printer.talk(f"pike: {words.text}")
        return words.exit_code
    if os.environ.get("PIKE_DEBUG"):
        printer.talk(traceback.format_exc())
    log.debug("a command failed", exc_info=error)
    printer.talk(
        f"pike: this should not have happened: {type(error).__name__}: {error}. "
        "PIKE_DEBUG=1 shows where; the sessions are unharmed."
    )
    return FAILED


def _silence_stdout() -> None:
    """Keep the interpreter from complaining about the closed pipe when it leaves."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
