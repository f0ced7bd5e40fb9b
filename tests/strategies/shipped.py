"""The templates as shipped, and a context to fill them with."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import Any

from strategies.protocol import Attempt, Candidate, Context, Kind, Language, Verdict
from strategies.templates import Templates, parse

ORIGINAL = Candidate("c0", "", "class Model:\n    original = 1\n", None)
PARENT = Candidate("c3", "c0", "class ModelNew:\n    parent = 1\n", 2.0)
FAILED = Candidate("c4", "c3", "class ModelNew:\n    failed = 1\n", None)


def texts() -> dict[str, str]:
    folder = files("strategies") / "prompts"
    return {f.name: f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(".md")}


TEMPLATES: Templates = parse(texts())

CPU = (Language("extern-c", 0.4), Language("stable-abi", 1.7), Language("pytorch", None))
CUDA = (Language("nvrtc", 0.6, "No headers."), Language("triton", 1.2), *CPU)


def context(**changes: Any) -> Context:
    base = Context(
        task_id="starter/softmax",
        original=ORIGINAL,
        device="cuda",
        device_name="NVIDIA H200",
        languages=CUDA,
        precision="half",
        tolerance="budget",
    )
    return replace(base, **changes)


def failed(kind: Kind, source: Candidate = FAILED, **parts: Any) -> Attempt:
    return Attempt(source, 0, Verdict(kind, **parts))
