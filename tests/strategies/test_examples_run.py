"""The worked examples for the CPU, built and run by the interpreter that runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.strategies.test_examples import shown

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import importlib.util, math, sys, torch
def attention(self, x):
    b, n, w = x.shape
    q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
    mixed = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(w // self.heads), dim=-1) @ v
    return self.proj(mixed.transpose(1, 2).reshape(b, n, w))

def rms(self, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gain

CASES = {
    "scale": ((300,), (7, 300), lambda self, x: torch.relu(x * self.scale + self.shift)),
    "gain": ((300,), (7, 300), rms),
    "first": ((32, 48, 16), (5, 32), lambda self, x: self.second(self.first(x))),
    "qkv": ((64, 4), (2, 10, 64), attention),
}
def check(path):
    spec = importlib.util.spec_from_file_location("example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    source = open(path, encoding="utf-8").read()
    args, shape, original = next(c for name, c in CASES.items() if f"self.{name} = " in source)
    model = example.ModelNew(*args).eval()
    for parameter in model.parameters():
        # As large as a real layer's: logits in the hundreds would make softmax a matter of rounding.
        scale = parameter.shape[-1] ** -0.5 if parameter.dim() > 1 else 1.0
        parameter.data = torch.randn_like(parameter) * scale
    getattr(model, "prepare", lambda: None)()
    for _ in range(3):
        x = torch.randn(shape)
        kept = x.clone()
        torch.testing.assert_close(model(x), original(model, x), rtol=1e-4, atol=1e-4)
        assert torch.equal(x, kept)
    print("right:", path)

torch.manual_seed(0)
with torch.inference_mode():
    for path in sys.argv[1:]:
        check(path)
"""
HEAVY = ("load-inline", "torch-library")
EXAMPLES = shown("cpu")


def run(folder: Path, sources: list[str]) -> None:
    """Run the examples in one fresh process; it prints a line for each that is right."""
    paths = [folder / f"candidate{i}.py" for i in range(len(sources))]
    for path, source in zip(paths, sources, strict=True):
        path.write_text(source, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, paths)],
        env={**os.environ, "TORCH_EXTENSIONS_DIR": str(folder), "MAX_JOBS": "1"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert ran.stdout.splitlines() == [f"right: {path}" for path in paths], ran.stderr


@pytest.mark.torch
def test_the_cheap_examples_build_and_compute_what_their_titles_say(tmp_path: Path) -> None:
    cheap = [source for title, source in EXAMPLES.items() if not title.startswith(HEAVY)]
    assert len(cheap) == 5
    run(tmp_path, cheap)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title in EXAMPLES if title.startswith(HEAVY)])
def test_an_example_with_heavy_headers_builds_and_computes_what_its_title_says(
    title: str, tmp_path: Path
) -> None:
    run(tmp_path, [EXAMPLES[title]])
