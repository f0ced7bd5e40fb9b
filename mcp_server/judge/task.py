# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""A task file in KernelBench format, loaded: its model, its init inputs and its draws.

Format: ScalingIntelligence/KernelBench, `Model`, `get_inputs()`, `get_init_inputs()` at module level.
"""

from __future__ import annotations

import ast
import hashlib
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_server.judge import memory
from mcp_server.judge.faults import Fault, unfit
from mcp_server.judge.inputs import Draw, refuse_other, to_draw
from mcp_server.worker.program import construct, describe, flat, import_source, pack, seed_all

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor, nn

INPUT_LIMIT_BYTES = 1024**3
NEEDED = ("Model", "get_inputs", "get_init_inputs")


@dataclass(frozen=True, slots=True)
class Task:
    """A task file whose parts are all there."""

    task_id: str
    source: str
    sha256: str
    model: Any
    get_inputs: Any
    get_init_inputs: Any
    device: str

    def construct(self, seed: int) -> nn.Module:
        """Return the model under the device, in evaluation mode.

        Raises:
            Fault: its code raises.
        """
        try:
            return construct(self.model, self._init_inputs(seed), seed, self.device)
        except Exception as error:
            raise self._fault(error, "Model cannot be constructed") from error

    def _init_inputs(self, seed: int) -> Any:
        seed_all(seed)
        return self.get_init_inputs()

    def init_tree(self, seed: int) -> tuple[dict[str, Any], list[dict[str, Any]], list[Tensor]]:
        """Return the init inputs taken apart: tree, descriptions, tensors in the order of memory."""
        leaves: list[Tensor] = []
        try:
            tree = pack(self._init_inputs(seed), leaves)
            refuse_other(tree)
        except Exception as error:
            raise self._fault(error, "get_init_inputs fails") from error
        leaves = [leaf.detach().cpu() for leaf in leaves]
        return tree, [describe(x) for x in leaves], [flat(x).clone() for x in leaves]

    def draw(self, seed: int) -> Draw:
        """Return one draw of `get_inputs`.

        Raises:
            Fault: it raises, or makes more than the arenas hold.
        """
        seed_all(seed)
        try:
            made = to_draw(self.get_inputs(), seed, varied=False)
        except Exception as error:
            raise self._fault(error, "get_inputs fails") from error
        if made.bytes > INPUT_LIMIT_BYTES:
            size = made.bytes / 2**20
            raise unfit("too_large", f"One set of inputs takes {size:.0f} MiB; the limit is 1024.")
        return made

    def fault(self, error: Exception) -> Fault:
        """Return the fault of a forward pass that raised."""
        return self._fault(error, "the forward pass fails")

    def _fault(self, error: Exception, what: str) -> Fault:
        text = str(error)
        if memory.ran_out(error):
            memory.refuse_crowded(error, self.device)
            return unfit("too_large", f"{self.task_id}: {what}: out of memory.")
        if self.device == "cpu" and any(word in text for word in ("CUDA", "NVIDIA", "cuda")):
            return unfit(
                "reference_fails", f"{self.task_id}: {what}: it needs CUDA, and this is cpu."
            )
        return unfit("reference_fails", f"{self.task_id}: {what}: {_line(error)}")


def load_task(task_id: str, path: Path, device: str) -> Task:
    """Return the task in that file.

    Raises:
        Fault: it is not Python, lacks a part, or fails when run.
    """
    try:
        source = path.read_text(encoding="utf-8")
        names = _names(ast.parse(source))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        raise unfit("not_kernelbench", f"{task_id} is not a Python file: {_line(error)}") from error
    except OSError as error:
        raise unfit("not_kernelbench", f"{task_id} cannot be read: {error.strerror}.") from error
    for name in NEEDED:
        if name not in names:
            raise unfit("not_kernelbench", f"{task_id} defines no {name} at module level.")
    digest = hashlib.sha256(source.encode()).hexdigest()
    try:
        module = import_source(path, f"task_{digest[:12]}")
    except ModuleNotFoundError as error:
        raise unfit("reference_fails", _lacking(task_id, error)) from error
    except Exception as error:
        traceback.print_exc()
        if device == "cpu" and "CUDA" in str(error):
            raise unfit(
                "reference_fails", f"{task_id} needs CUDA, and this device is cpu."
            ) from error
        raise unfit("not_kernelbench", f"{task_id} cannot be imported: {_line(error)}") from error
    parts = [getattr(module, name) for name in NEEDED]
    return Task(task_id, source, digest, parts[0], parts[1], parts[2], device)


def _lacking(task_id: str, error: ModuleNotFoundError) -> str:
    package = (error.name or "another file").partition(".")[0]
    return (
        f"{task_id} needs the package {package}, which this environment lacks: install it there, or name one "
        "that has it with --python."
    )


def _names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]
