"""The recorded answers are whole, listed, and what they claim to be."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOM = Path(__file__).parents[2]
RECORDED = ROOM / "sessions" / "recorded"
STARTER = ROOM / "mcp_server" / "starter"
LISTED: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(
    (RECORDED / "index.json").read_text(encoding="utf-8")
)["tasks"]
ROWS = [
    (task.removeprefix("starter/"), device, row)
    for task, devices in LISTED.items()
    for device, rows in devices.items()
    for row in rows
]
ANSWERS = [item for item in ROWS if item[2]["role"] != "ideas"]
WRONG = {"start-1"}
BROKEN = {"start-3"}
OF_A_MODULE = {"buffers", "children", "float", "half", "modules", "parameters", "type"}
"""Methods of every `nn.Module` that a careless attribute would hide."""


def name(item: tuple[str, str, dict[str, Any]]) -> str:
    return str(item[2]["file"]).removesuffix(".md").replace("/", " ")


def code(file: str) -> str:
    """Return the one fenced block of a reply."""
    text = (RECORDED / file).read_text(encoding="utf-8")
    pieces = text.split("```")
    assert len(pieces) == 3
    return pieces[1].removeprefix("python\n")


def constructor(source: str, class_name: str) -> list[str]:
    """Return the names of the constructor's arguments."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    return [argument.arg for argument in item.args.args]
    raise AssertionError(f"no {class_name}")


def test_every_reply_is_listed_and_every_listed_reply_exists() -> None:
    there = {
        str(path.relative_to(RECORDED))
        for folder in ("softmax", "layernorm-mlp")
        for path in (RECORDED / folder).rglob("*.md")
    }
    assert there == {row["file"] for _, _, row in ROWS}


@pytest.mark.parametrize(("task", "device"), [(t, d) for t, ds in LISTED.items() for d in ds])
def test_a_search_of_sixteen_queries_finds_all_it_asks_for(task: str, device: str) -> None:
    keys = {(r["role"], r["position"], r["step"]) for r in LISTED[task][device]}
    assert ("ideas", 0, 0) in keys
    assert {("start", n, 0) for n in range(5)} <= keys
    assert {("improve", n, 0) for n in range(7)} <= keys
    assert {("start", 1, 1), ("start", 3, 1), ("improve", 2, 1), ("improve", 2, 2)} <= keys


@pytest.mark.parametrize("item", ANSWERS, ids=name)
def test_an_answer_is_one_whole_file_with_the_constructor_of_the_original(
    item: tuple[str, str, dict[str, Any]],
) -> None:
    task, _, row = item
    source = code(row["file"])
    assert source.splitlines()[0] == f"# change: {row['says']}"
    original = (STARTER / f"{task}.py").read_text(encoding="utf-8")
    assert constructor(source, "ModelNew") == constructor(original, "Model")


@pytest.mark.parametrize("item", ANSWERS, ids=name)
def test_an_answer_hides_no_method_of_a_module(item: tuple[str, str, dict[str, Any]]) -> None:
    stored = {
        node.attr
        for node in ast.walk(ast.parse(code(item[2]["file"])))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    assert not stored & OF_A_MODULE


PROBE = """
import importlib.util, json, os, sys
import torch

torch.set_num_threads(1)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def probe(task, path):
    os.environ["TORCH_EXTENSIONS_DIR"] = os.path.splitext(path)[0]
    os.makedirs(os.environ["TORCH_EXTENSIONS_DIR"])
    torch.manual_seed(0)
    original = task.Model(*task.get_init_inputs()).eval()
    try:
        candidate = load(path, "candidate").ModelNew(*task.get_init_inputs()).eval()
    except RuntimeError as error:
        return "does not compile" if "Error building extension" in str(error) else repr(error)
    with torch.inference_mode():
        for weight in original.parameters():
            weight.mul_(torch.rand_like(weight) + 0.5).add_(0.1 * torch.randn_like(weight))
        candidate.load_state_dict(original.state_dict())
        inputs = task.get_inputs()
        want, got = original(*inputs), candidate(*inputs)
        error = (want - got).pow(2).mean().sqrt() / (want - want.roll(1, 0)).pow(2).mean().sqrt()
    return float(error)


task = load(sys.argv[1], "task")
print(json.dumps([probe(task, path) for path in sys.argv[2:]]))
"""


@pytest.mark.torch
@pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler")
@pytest.mark.parametrize("task", ["softmax", "layernorm-mlp"])
def test_answers_for_a_cpu_are_right_but_for_the_wrong_one_and_the_broken_one(
    task: str, tmp_path: Path
) -> None:
    names = [Path(row["file"]).stem for t, d, row in ANSWERS if (t, d) == (task, "cpu")]
    paths = [tmp_path / f"{stem}.py" for stem in names]
    for path in paths:
        path.write_text(code(f"{task}/cpu/{path.stem}.md"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(STARTER / f"{task}.py"), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    errors = dict(zip(names, json.loads(done.stdout), strict=True))
    assert {stem for stem in names if errors[stem] == "does not compile"} == BROKEN
    assert {stem for stem in names if stem not in BROKEN and errors[stem] > 0.03} == WRONG


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs the CUDA compiler")
@pytest.mark.parametrize("task", ["softmax", "layernorm-mlp"])
def test_cuda_sources_compile_for_sm_90_but_for_the_broken_one(task: str, tmp_path: Path) -> None:
    refused: set[str] = set()
    for _, _, row in (item for item in ANSWERS if item[:2] == (task, "cuda")):
        source = code(row["file"])
        if "__global__" not in source:
            continue
        stem = Path(row["file"]).stem
        kernel = tmp_path / f"{stem}.cu"
        cuda = source.split('r"""')[1].split('"""')[0]
        kernel.write_text("#define CAP 20.0f\n" + cuda, encoding="utf-8")
        done = subprocess.run(
            ["nvcc", "-cubin", "-arch=sm_90", "-o", str(kernel.with_suffix(".cubin")), str(kernel)],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            refused.add(stem)
    assert refused == BROKEN
