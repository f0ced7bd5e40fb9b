"""`pike task new`: a task made from a class of the user's own, then qualified."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import evaluator, input_specs, own_module, task_writing
from workbench.commands.tasks import check_limit, placing
from workbench.errors import DONE, FAILED, CannotGoOn, WorkbenchError, WrongUsage

if TYPE_CHECKING:
    import argparse

    from workbench.printing import Printer

_CHECKPOINTS = (".pt", ".pth", ".bin", ".safetensors")


def run(typed: argparse.Namespace, printer: Printer) -> int:
    """Write the task's file, keep it, and find out whether it can judge candidates."""
    check_limit(typed.limit)
    draft = _draft(typed)
    target = Path(typed.output or f"{_stem(draft.origin.name)}.py").expanduser()
    is_new = _write(target, task_writing.written(draft))
    try:
        row = _kept(target, draft)
    except WorkbenchError:
        if is_new:
            target.unlink(missing_ok=True)
        raise
    printer.talk(f"{target} is written.")
    reads = [str(p) for p in (draft.origin.project, draft.checkpoint) if p]
    if reads:
        printer.talk(f"Tasks that name it may now read {' and '.join(reads)} in the sandbox.")
    told = _qualified(typed, str(row["id"]), printer)
    if typed.json:
        printer.pretty({"id": row["id"], "file": str(target), "reads": reads, **told})
    else:
        _tell(str(row["id"]), told, target, printer)
    return DONE if told.get("state") == "qualified" else FAILED


def _draft(typed: argparse.Namespace) -> task_writing.Draft:
    origin = own_module.located(typed.module, typed.project or "", elsewhere=bool(typed.python))
    sets = input_specs.parsed(typed.input)
    task_writing.check_inputs(origin, sets[0])
    arguments = task_writing.arguments(typed.init, origin)
    return task_writing.Draft(origin, arguments, sets, _checkpoint(typed.checkpoint))


def _checkpoint(named: str | None) -> str:
    """Return a checkpoint's true path.

    Raises:
        WrongUsage: it is no file, or of a kind that torch does not load as weights alone.
    """
    if not named:
        return ""
    path = Path(os.path.realpath(Path(named).expanduser()))
    if not path.is_file():
        raise WrongUsage(f"there is no checkpoint file {named}.")
    if path.suffix not in _CHECKPOINTS:
        raise WrongUsage(f"{named}: a checkpoint ends with {', '.join(_CHECKPOINTS)}.")
    return str(path)


def _stem(name: str) -> str:
    """Return a file's name for a class: `MiniGPTBlock` is mini_gpt_block."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return split.lower().strip("_") or "task"


def _write(target: Path, text: str) -> bool:
    """Write a file that is not there, or has this text; return whether it was not there."""
    try:
        is_new = not target.exists()
        if not is_new and target.read_bytes() != text.encode():
            raise WrongUsage(
                f"{target} is there already, with another text: name another file with -o, or move it away."
            )
        target.write_text(text, encoding="utf-8")
        return is_new
    except (OSError, UnicodeEncodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "a name in it is not UTF-8"
        raise CannotGoOn(f"{target} cannot be written: {why}.") from error


def _kept(target: Path, draft: task_writing.Draft) -> dict[str, Any]:
    reads = [str(path) for path in (draft.origin.project, draft.checkpoint) if path]
    words = [word for path in reads for word in ("--reads", path)]
    return evaluator.rows(
        evaluator.ask("tasks", "--add", str(target.absolute()), *words, "--json")
    )[0]


def _qualified(typed: argparse.Namespace, task: str, printer: Printer) -> dict[str, Any]:
    printer.talk(f"Qualifying {task}: it must reject answers known to be wrong …")
    words = [*placing(typed), *evaluator.flags(limit=str(typed.limit or "")), "--no-baselines"]
    answer = evaluator.answer("qualify", *words, "--json", "--", task, limit_s=None)
    row = evaluator.rows(answer.json)[0]
    names = ("state", "code", "reason", "policy", "blind_to")
    return {name: row[name] for name in names if row.get(name)}


def _tell(task: str, told: dict[str, Any], target: Path, printer: Printer) -> None:
    if told.get("state") != "qualified":
        printer.data(f"{task}: {told.get('state')}: {told.get('code')}: {told.get('reason')}")
        printer.talk(
            f"Edit {target} and try it by itself: `python {target}`; then `pike tasks qualify {target}`."
        )
        return
    blind = ", ".join(told.get("blind_to") or [])
    printer.data(f"{task}: qualified ({told['policy']}){f'; blind to {blind}' if blind else ''}")
    printer.talk(
        f"`pike run {task}` searches for a faster version; edit {target} as you like and run that."
    )
