"""Commands that judge and measure without a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.grammar.parts import Command, as_json, boxes, device, evaluator, where

if TYPE_CHECKING:
    import argparse


def _evaluate(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK", help="a KernelBench-format file, or SUITE/NAME")
    p.add_argument("candidates", metavar="CANDIDATE", nargs="+", help="files with ModelNew")
    p.add_argument("--full", action="store_true",
                   help="three fresh process pairs, and the baselines that take minutes")  # fmt: skip
    evaluator(p)
    as_json(p)


def _replay(p: argparse.ArgumentParser) -> None:
    p.add_argument("bundle", metavar="BUNDLE", help="a file that `pike best --bundle` wrote")
    device(p)
    boxes(p)
    as_json(p)


def _profile(p: argparse.ArgumentParser) -> None:
    p.add_argument("task", metavar="TASK|SESSION:c12",
                   help="a KernelBench-format file, SUITE/NAME, or an attempt")  # fmt: skip
    p.add_argument("--candidate", metavar="FILE", help="profile this file's ModelNew instead")
    p.add_argument("--full", action="store_true",
                   help="measure the baselines that take minutes, too: max-autotune, TensorRT")  # fmt: skip
    where(p)
    as_json(p)


COMMANDS: tuple[Command, ...] = (
    Command("evaluate", "judge candidates without a session", _evaluate),
    Command("replay", "judge the evidence of a best again: does the claim stand", _replay),
    Command("profile", "where the time goes, and what is left to gain", _profile),
)
