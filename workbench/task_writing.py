"""The text of a task made from a class of the user's own: plain torch, in KernelBench format, theirs to edit."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import WrongUsage
from workbench.own_module import needed_names
from workbench.plain import inert_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.input_specs import Input, Shape
    from workbench.own_module import Origin, Signature

_SAFETENSORS = ".safetensors"


@dataclass(frozen=True, slots=True)
class Draft:
    """All that a task is made of."""

    origin: Origin
    arguments: tuple[str, ...]
    """Of the constructor, as Python: `64`, `heads=4`."""
    sets: Sequence[Sequence[tuple[Input, Shape]]]
    checkpoint: str = ""
    """Its true path; empty without one."""


def arguments(typed: Sequence[str], origin: Origin) -> tuple[str, ...]:
    """Return what `--init` says, as the arguments of a call.

    Raises:
        WrongUsage: one is no Python, names what the module lacks, or they do not fit the constructor.
    """
    found = [_argument(text, origin) for text in typed]
    names = [name for name, _ in found if name]
    if any(name and not found[n + 1][0] for n, (name, _) in enumerate(found[:-1])):
        raise WrongUsage("an --init without a name stands behind one with NAME=: put it before.")
    if len(set(names)) < len(names):
        raise WrongUsage("an --init NAME= is given twice.")
    if origin.init is not None:
        positional = len(found) - len(names)
        _check_call(f"{origin.name}", origin.init, positional, names, "--init")
    return tuple(f"{name}={value}" if name else value for name, value in found)


def check_inputs(origin: Origin, row: Sequence[tuple[Input, Shape]]) -> None:
    """Refuse inputs that do not fit `forward`.

    Raises:
        WrongUsage: which are missing or too many.
    """
    if origin.forward is not None:
        names = [one.name for one, _ in row if one.name]
        _check_call(
            f"{origin.name}.forward", origin.forward, len(row) - len(names), names, "--input"
        )


def _check_call(
    what: str, signature: Signature, positional: int, names: Sequence[str], flag: str
) -> None:
    given = {*signature.all[:positional], *names}
    missing = [name for name in signature.required if name not in given]
    if missing:
        raise WrongUsage(f"{what} needs {', '.join(missing)} too: give {flag} for each.")
    strange = [name for name in names if name not in signature.all]
    if not signature.open_ended and (strange or positional > len(signature.all)):
        takes = ", ".join(signature.all) or "nothing"
        told = f"not {', '.join(strange)}" if strange else f"not {positional}"
        raise WrongUsage(f"{what} takes {takes}, {told}: check {flag}.")


def _argument(text: str, origin: Origin) -> tuple[str, str]:
    found = re.fullmatch(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.+)", text, re.DOTALL)
    name, value = (found[1], found[2]) if found else ("", text)
    try:
        expression = ast.parse(value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise WrongUsage(
            f"--init {text}: that is no Python value. A word is quoted twice: --init \"'gelu'\"."
        ) from error
    for used in sorted(needed_names(expression)):
        if origin.names is not None and used not in origin.names:
            raise WrongUsage(
                f"--init {text}: {origin.module} has no {used}. A word is quoted twice: --init \"'{used}'\"."
            )
    return name, ast.unparse(expression)


def written(draft: Draft) -> str:
    """Return the task's text."""
    parts = [_head(draft), _model(draft), _draws(draft), _END, _shown(draft.origin)]
    return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _head(draft: Draft) -> str:
    origin = draft.origin
    many = f" on {len(draft.sets)} sets of inputs" if len(draft.sets) > 1 else ""
    lines = [
        f'"""{origin.name} of {origin.module}{many}.',
        "",
        "Written by `pike task new`, yours to edit. PROJECT and CHECKPOINT may be read in the sandbox as long as they",
        'name what that command was given."""',
        "",
        *(["import sys", ""] if origin.project else []),
        "import torch",
        "",
    ]
    if origin.project and origin.root:
        lines += [f"PROJECT = {str(origin.project)!r}", f"sys.path.insert(0, {_root(origin)})", ""]
    if draft.checkpoint:
        lines += [f"CHECKPOINT = {draft.checkpoint!r}", ""]
    return "\n".join([*lines, f"from {origin.module} import {', '.join(_imported(draft))}"])


def _root(origin: Origin) -> str:
    return "PROJECT" if origin.root == origin.project else 'PROJECT + "/src"'


def _imported(draft: Draft) -> list[str]:
    values = [re.sub(r"^[A-Za-z_]\w*=(?!=)", "", text) for text in draft.arguments]
    used = [needed_names(ast.parse(value, mode="eval").body) for value in values]
    return [
        f"{draft.origin.name} as _Original",
        *sorted({name for names in used for name in names}),
    ]


def _model(draft: Draft) -> str:
    origin, call = draft.origin, ", ".join(draft.arguments)
    loads = "\n        _load({})" if draft.checkpoint else ""
    if origin.is_class:
        body = f"        super().__init__({call}){loads.format('self')}"
        forward = _forward(draft, "super().forward") if _needs_forward(draft) else ""
        model = f"class Model(_Original):\n    def __init__(self):\n{body}\n{forward}"
    else:
        body = f"        super().__init__()\n        self.module = _Original({call}){loads.format('self.module')}"
        model = f"class Model(torch.nn.Module):\n    def __init__(self):\n{body}\n{_forward(draft, 'self.module')}"
    return f"{_loader(draft.checkpoint)}{model}"


def _needs_forward(draft: Draft) -> bool:
    return len(draft.sets) > 1 or any(one.name for one, _ in draft.sets[0])


def _forward(draft: Draft, run: str) -> str:
    """Return a `forward` that takes all sets of inputs flat, and answers each."""
    row = draft.sets[0]
    names = [one.name for one, _ in row if one.name]
    plain = len(row) - len(names)
    if len(draft.sets) == 1:
        given = _given("inputs", plain, names)
        return f"\n    def forward(self, *inputs):\n        return {run}({given})\n"
    return (
        "\n    def forward(self, *inputs):\n"
        f"        run = {run}\n"
        f"        sets = [inputs[n : n + {len(row)}] for n in range(0, len(inputs), {len(row)})]\n"
        f"        return tuple(run({_given('given', plain, names)}) for given in sets)\n"
    )


def _given(what: str, plain: int, names: Sequence[str]) -> str:
    if not names:
        return f"*{what}"
    named = [f"{name}={what}[{plain + n}]" for n, name in enumerate(names)]
    return ", ".join([*([f"*{what}[:{plain}]"] if plain else []), *named])


def _loader(checkpoint: str) -> str:
    if not checkpoint:
        return ""
    load = 'torch.load(CHECKPOINT, map_location="cpu", weights_only=True)'
    if checkpoint.endswith(_SAFETENSORS):
        load = "load_file(CHECKPOINT)"
    return _LOADER.replace("LOADED", load).replace(
        "FIRST",
        "    from safetensors.torch import load_file\n\n" if load.startswith("load_file") else "",
    )


_LOADER = '''def _load(model):
    """Fill a model with the checkpoint's weights; what does not fit is told by name."""
FIRST    state = LOADED
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(state.get(key), dict):
            state = state[key]
    if all(name.startswith("module.") for name in state):
        state = {name.removeprefix("module."): value for name, value in state.items()}
    try:
        lacks, strange = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        raise ValueError("the checkpoint does not fit: " + " ".join(str(error).split())) from None
    if lacks or strange:
        raise ValueError(f"the checkpoint does not fit: it lacks {lacks[:5]} and has {strange[:5]} too")


'''


def _draws(draft: Draft) -> str:
    drawn = [one.expression(shape) for row in draft.sets for one, shape in row]
    lines = "".join(f"        {expression},\n" for expression in drawn)
    return (
        f"def get_inputs():\n    return [\n{lines}    ]\n\n\ndef get_init_inputs():\n    return []"
    )


_END = """if __name__ == "__main__":
    with torch.no_grad():
        answer = Model(*get_init_inputs()).eval()(*get_inputs())
    print([tuple(a.shape) for a in answer] if isinstance(answer, (tuple, list)) else tuple(answer.shape))"""


def _shown(origin: Origin) -> str:
    """Return the original's source as comments: whoever writes a candidate sees only this file."""
    if not origin.shown:
        return ""
    lines = [f"# {inert_line(line)}".rstrip() for line in origin.shown.splitlines()]
    return "\n".join(
        [f"# For reading: {origin.name} and what it uses of its project.", "#", *lines]
    )
