"""Candidates that no task may accept, made from the task's own source: the cheats that need no idea of the task.

| name | what it answers |
| --- | --- |
| `zeros` | zeros of the right structure |
| `remembered` | its first answer, whatever the input |
| `defaults` | with constant parameters and statistics as they begin, not as they are given |
| `norms` | with every normalisation left out |
| `mean` | the mean of its answer everywhere |
| `half` | the first half of its rows, twice |
| `shorter` | a tuple without its last part, a tensor without its last row |

None of them gains a microsecond: they show what a cheat that does would get away with. One that finds nothing to
leave out says so when it is made.
"""

from __future__ import annotations

NOTHING = "nothing to leave out"
"""What a cheat says that does not apply to a task."""

_HEAD = """

import torch as _torch
from torch.utils._pytree import tree_map as _map


def _is_norm(module):
    return "norm" in type(module).__name__.lower() and not list(module.children())


class ModelNew(Model):
"""

_CHANGED = f"""

def _changed(answer, change):
    kept = []

    def one(value):
        if not isinstance(value, _torch.Tensor):
            return value
        changed = change(value) if value.numel() > 1 else value
        kept.append(changed.equal(value))
        return changed

    made = _map(one, answer)
    if all(kept):
        raise RuntimeError("{NOTHING}")
    return made
"""

_BODIES = {
    "zeros": """
    def forward(self, *arguments, **named):
        return _map(_zeros, super().forward(*arguments, **named))


def _zeros(value):
    return _torch.zeros_like(value) if isinstance(value, _torch.Tensor) else value
""",
    "remembered": """
    def forward(self, *arguments, **named):
        kept = self.__dict__.get("_kept")
        if kept is None:
            kept = self.__dict__["_kept"] = _map(_copied, super().forward(*arguments, **named))
        return _map(_copied, kept)


def _copied(value):
    return value.clone() if isinstance(value, _torch.Tensor) else value
""",
    "defaults": f"""
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        members = dict(self.named_parameters())
        members |= {{
            name: value
            for name, value in self.named_buffers()
            if name.rsplit(".", 1)[-1] in ("running_mean", "running_var")
        }}
        self.__dict__["_begin"] = {{
            name: value.detach().flatten()[0].item()
            for name, value in members.items()
            if value.numel() and bool((value == value.flatten()[0]).all())
        }}
        if not self.__dict__["_begin"]:
            raise RuntimeError("{NOTHING}")

    def prepare(self):
        members = dict(self.named_parameters()) | dict(self.named_buffers())
        with _torch.no_grad():
            for name, value in self.__dict__["_begin"].items():
                members[name].fill_(value)
""",
    "norms": f"""
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        norms = [module for module in self.modules() if _is_norm(module)]
        if not norms:
            raise RuntimeError("{NOTHING}")
        for module in norms:
            module.forward = _same


def _same(value, *others, **named):
    return value
""",
    "mean": f"""
    def forward(self, *arguments, **named):
        return _changed(super().forward(*arguments, **named), _mean)


def _mean(value):
    floating = value if value.is_floating_point() else value.float()
    return floating.mean().to(value.dtype).expand_as(value).clone()
{_CHANGED}""",
    "half": f"""
    def forward(self, *arguments, **named):
        return _changed(super().forward(*arguments, **named), _halved)


def _halved(value):
    if not value.ndim or value.shape[0] < 2:
        return value
    half = (value.shape[0] + 1) // 2
    return _torch.cat([value[:half], value[:half]])[: value.shape[0]]
{_CHANGED}""",
    "shorter": f"""
    def forward(self, *arguments, **named):
        answer = super().forward(*arguments, **named)
        if isinstance(answer, (tuple, list)):
            return answer[:-1]
        if isinstance(answer, dict):
            return dict(list(answer.items())[:-1])
        if isinstance(answer, _torch.Tensor) and answer.ndim and answer.shape[0] > 1:
            return answer[:-1].clone()
        if isinstance(answer, _torch.Tensor):
            return (answer,)
        raise RuntimeError("{NOTHING}")
""",
}

NAMES = tuple(_BODIES)


def source(task_source: str, name: str) -> str:
    """Return the candidate that plays this cheat on a task."""
    return task_source + _HEAD + _BODIES[name]
