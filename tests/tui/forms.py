"""A machine that stands still, for the form of a new session: the same on every computer, and hostile if wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.form_looks import Around, Looked, Looker, before, look
from workbench.machine import Machine, Row
from workbench.plain import inert_line
from workbench.suggestions import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.form_looks import Before

CHECKS = (
    Row("device", "ok", "cuda:0 H200 free"),
    Row("compiler", "ok", "nvcc 12.6"),
    Row("models", "ok", "strong"),
    Row("sandbox", "warning", "no bubblewrap", "candidates run in a weaker sandbox"),
    Row("state folder", "ok", "/home/me/pike"),
)


def still(text: str = "") -> Looker:
    """Return a look at a machine with one GPU; `text` is whatever a foreign hand could have written."""
    tasks = (
        Option("starter/scan", inert_line(text or "Gated prefix average")),
        Option("starter/softmax", inert_line(text or "Softmax of soft-capped logits")),
        Option(inert_line(text or "local/mine-0123abcd"), inert_line(text)),
    )
    found = Machine((Row("torch", "ok", "2.13.0, CUDA 13.0"), Row("cuda:0", "ok", "NVIDIA H200")))
    devices = (
        Option("auto", inert_line("cuda:0 here")),
        Option("cuda:0", inert_line("H200, free")),
    )
    there = Around(found, "", tasks, devices)

    def looked(values: Mapping[str, str], known: Before, around: Around) -> Looked:
        real = look(values, known, around)
        rows = (*CHECKS, Row("disk", "missing", text, text)) if text else CHECKS
        told = text or "about $ 8.60 (7.10–9.40) and 5 h, from 3 sessions like this one"
        notes = dict.fromkeys(real.notes, text) if text else {**real.notes, "model": ""}
        return Looked(told, rows, notes, dict.fromkeys(("from",), text) if text else {})

    return Looker(before, lambda _: there, looked)
