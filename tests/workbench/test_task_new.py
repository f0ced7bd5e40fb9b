"""A task from a class of the user's own: read, never imported; written as plain torch; told where it cannot be."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.workbench.commanding import Pike
from workbench import input_specs, own_module, task_writing
from workbench.errors import WrongUsage

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = """
from dataclasses import dataclass
from torch import nn
from .parts import Gate as Gating

raise SystemExit("a project is never imported here")


@dataclass
class Config:
    width: int
    heads: int = 4


class Block(nn.Module):
    def __init__(self, config, act="gelu", *, deep=False):
        super().__init__()
        self.gate = Gating(config.width)

    def forward(self, x, mask=None):
        return self.gate(x)


def build(width):
    return nn.Linear(width, width)


async def later(): ...
"""
PARTS = (
    "from torch import nn\n\n\nclass Gate(nn.Linear):\n    '''Of ours.'''\n\n\nclass Other: ...\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    (made / "pkg").mkdir(parents=True)
    (made / "pkg" / "__init__.py").write_text("", encoding="utf-8")
    (made / "pkg" / "blocks.py").write_text(BLOCKS, encoding="utf-8")
    (made / "pkg" / "parts.py").write_text(PARTS, encoding="utf-8")
    monkeypatch.chdir(made)
    return made


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["pkg.blocks"], "names no class: write package.module:Class"),
        (["../pkg:Block"], "names no class"),
        (["pkg.absent:Block"], "there is no pkg/absent.py here"),
        (["pkg.absent:Block", "--project", "."], "nor in its src"),
        (["pkg.blocks:Block", "--project", "/nowhere"], "no project folder /nowhere"),
        (["pkg.blocks:Blocks"], "has no Blocks. Did you mean 'Block'?"),
        (["pkg.blocks:later"], "async"),
        (["pkg.blocks:Block"], "give --input"),
        (["pkg.blocks:Block", "--input", "8"], "Block needs config too: give --init"),
        (["pkg.blocks:Block", "--init", "Config(8)", "--init", "atc=1", "--input", "8"], "not atc"),
        (["pkg.blocks:Block", "--init", "gelu", "--input", "8"], "A word is quoted twice"),
        (["pkg.blocks:Block", "--init", "Config(", "--input", "8"], "no Python value"),
        (
            ["pkg.blocks:Block", "--init", "config=1", "--init", "2", "--input", "8"],
            "put it before",
        ),
        (["pkg.blocks:Block", "--init", "config=1", "--init", "config=2", "--input", "8"], "twice"),
        (
            ["pkg.blocks:Block", "--init", "1", "--input", "8", "--input", "z=8"],
            "takes x, mask, not z",
        ),
        (
            ["pkg.blocks:Block", "--init", "1", "--input", "8", "--checkpoint", "no.pt"],
            "no checkpoint file",
        ),
        (
            ["pkg.blocks:Block", "--init", "1", "--input", "8", "--checkpoint", "pkg/blocks.py"],
            "ends with .pt",
        ),
        (
            ["pkg.blocks:Block", "--init", "1", "--input", "8", "-o", "pkg/parts.py"],
            "is there already",
        ),
        (["pkg.blocks:Block", "--init", "1", "--input", "8", "-o", "no/x.py"], "cannot be written"),
        (["pkg.blocks:Block", "--init", "1", "--input", "8", "--limit", "0"], "above zero"),
    ],
)
def test_what_a_person_gets_wrong_is_told_in_a_line(
    project: Path, words: list[str], why: str
) -> None:
    told = Pike()("task", "new", *words)
    assert told.code != 0
    assert why in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["8x"], "is no shape"),
        (["8x0"], "nothing to compute"),
        (["8:flot32"], "Did you mean 'float"),
        (["8:int64"], "need a range"),
        (["8:int64:9..3"], "not below"),
        (["8:bool:0..1"], "no range for bool"),
        (["8:float32:a..b"], "no range"),
        (["8,9", "8,9,10"], "2 and 3"),
        (["a=8", "8"], "put it before"),
        (["a=8", "a=8"], "twice"),
        (["9x!=8"], "cannot be an argument's name"),
        (["100000x100000"], "40 GB"),
        (["9" * 13], "is no shape"),
    ],
)
def test_an_input_that_cannot_be_meant_is_refused(typed: list[str], why: str) -> None:
    with pytest.raises(WrongUsage, match=why):
        input_specs.parsed(typed)


def test_several_shapes_make_several_sets() -> None:
    sets = input_specs.parsed(["1x8,4x8:bfloat16", "m=scalar:int32:-3..5"])
    drawn = [[one.expression(shape) for one, shape in row] for row in sets]
    assert drawn == [
        ["torch.randn((1, 8)).to(torch.bfloat16)", "torch.randint(-3, 5, (), dtype=torch.int32)"],
        ["torch.randn((4, 8)).to(torch.bfloat16)", "torch.randint(-3, 5, (), dtype=torch.int32)"],
    ]


def test_a_folder_with_everything_of_a_person_is_not_opened(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    told = Pike()("task", "new", "pkg.blocks:Block", "--init", "1", "--input", "8")
    assert told.code == 1
    assert "tasks may not read that" in told.err
    assert not (project / "block.py").exists()


def _text(*, reference: str, init: list[str], given: list[str], checkpoint: str = "") -> str:
    origin = own_module.located(reference, "", elsewhere=False)
    sets = input_specs.parsed(given)
    arguments = task_writing.arguments(init, origin)
    return task_writing.written(task_writing.Draft(origin, arguments, sets, checkpoint))


def test_the_text_shows_what_the_class_uses_of_its_project(project: Path) -> None:
    text = _text(reference="pkg.blocks:Block", init=["Config(8)"], given=["8"])
    ast.parse(text)
    assert "from pkg.blocks import Block as _Original, Config" in text
    assert "# --- pkg.parts" in text
    assert "#     '''Of ours.'''" in text
    assert "Other" not in text
    assert f"PROJECT = {str(project)!r}" in text


def test_what_a_project_writes_stays_a_comment(project: Path) -> None:
    odd = 'class Odd:\n    """\x1b[31m\u202e\x0cimport os\x85os.system("x")"""\n'
    (project / "pkg" / "odd.py").write_text(odd, encoding="utf-8")
    text = _text(reference="pkg.odd:Odd", init=[], given=["8"])
    assert "\x1b" not in text
    tree = ast.parse(text)
    imports = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    assert imports == ["import sys", "import torch", "from pkg.odd import Odd as _Original"]


def test_a_module_under_src_or_installed_is_found(project: Path) -> None:
    (project / "src" / "deep").mkdir(parents=True)
    (project / "src" / "deep" / "net.py").write_text("class Net: ...\n", encoding="utf-8")
    assert 'PROJECT + "/src"' in _text(reference="deep.net:Net", init=[], given=["8"])
    assert (
        "PROJECT"
        not in _text(reference="torch.nn:ReLU", init=[], given=["8"]).partition("import")[2]
    )


REAL = """
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width, by):
        super().__init__()
        self.by, self.inner = by, nn.Linear(width, width)

    def forward(self, x, shift):
        return self.inner(x) * self.by + shift


def build(width):
    return Scaled(width, by=2.0)
"""


@pytest.mark.torch
@pytest.mark.timeout(600)
def test_a_class_with_a_checkpoint_and_two_shapes_runs_by_itself_and_qualifies(
    project: Path,
) -> None:
    (project / "pkg" / "real.py").write_text(REAL, encoding="utf-8")
    script = (
        "import torch; from pkg.real import build; "
        "torch.save({'state_dict': build(16).state_dict()}, 'm.pt')"
    )
    subprocess.run([sys.executable, "-c", script], cwd=project, check=True, timeout=120)
    words = ["--init", "16", "--init", "by=2.0", "--input", "4x16,32x16", "--input", "shift=16"]
    where = ["--device", "cpu", "--checkpoint", "m.pt", "--json"]
    told = Pike()("task", "new", "pkg.real:Scaled", *words, *where)
    assert told.code == 0, told.err
    assert told.json["state"] == "qualified"
    assert told.json["reads"] == [str(project), str(project / "m.pt")]
    alone = [sys.executable, "-P", "scaled.py"]
    done = subprocess.run(
        alone, cwd=project, check=True, timeout=120, capture_output=True, text=True
    )
    assert done.stdout == "[(4, 16), (32, 16)]\n"
    rows = {row["id"]: row for row in Pike()("tasks", "--json").json}
    assert rows[told.json["id"]]["state"] == "qualified"
