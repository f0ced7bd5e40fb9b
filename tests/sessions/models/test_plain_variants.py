"""Which plain variants a file has on a device, under a policy."""

from __future__ import annotations

import pytest

from sessions.models.derived import rules_in
from sessions.models.plain_variants import plain_variants
from strategies.protocol import Candidate, Context, Language
from strategies.python import defines, parses

CONVOLUTION = """import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return torch.relu(self.conv(x))

def get_inputs():
    return [torch.rand(2, 3, 8, 8)]

def get_init_inputs():
    return []
"""
ADDITION = CONVOLUTION.replace("nn.Conv2d(3, 8, 3)", "nn.Identity()")
ON_GPU = (Language("triton", 1.2),)
ON_CPU = (Language("extern-c", 0.6),)


def variants(
    source: str, device: str, precision: str, languages: tuple[Language, ...]
) -> list[str]:
    original = Candidate("c0", "", source, 1.0)
    context = Context("local/x", original, device, "", languages, precision, "budget")
    made = plain_variants(context)
    assert all(parses(source) and defines(source) for source in made)
    assert len(set(made)) == len(made)
    return [" + ".join(rules_in(source)) for source in made]


def test_on_a_gpu_under_half_every_rule_stands_alone_and_with_compile() -> None:
    assert set(variants(CONVOLUTION, "cuda", "half", ON_GPU)) == {
        "compile",
        "compile-reduce-overhead",
        "compile-max-autotune",
        "bf16",
        "fp16",
        "tf32",
        "channels-last",
        "cuda-graph",
        "bf16 + compile-max-autotune",
        "fp16 + compile-max-autotune",
        "tf32 + compile-max-autotune",
        "channels-last + compile-max-autotune",
        "cuda-graph + compile",
        "bf16 + channels-last + compile-max-autotune",
    }


@pytest.mark.parametrize(
    ("precision", "absent"), [("fp32", ("16", "tf32")), ("tf32", ("bf16", "fp16"))]
)
def test_no_variant_is_coarser_than_the_precision_policy(
    precision: str, absent: tuple[str, ...]
) -> None:
    found = variants(CONVOLUTION, "cuda", precision, ON_GPU)
    assert "channels-last + compile-max-autotune" in found
    assert not any(word in variant for variant in found for word in absent)


def test_without_a_compiler_each_stands_alone() -> None:
    assert set(variants(CONVOLUTION, "cuda", "tf32", ())) == {"tf32", "channels-last", "cuda-graph"}


def test_on_a_cpu_there_are_no_graphs() -> None:
    found = variants(CONVOLUTION, "cpu", "fp32", ON_CPU)
    assert set(found) == {
        "compile",
        "compile-max-autotune",
        "channels-last",
        "channels-last + compile",
    }


def test_a_file_that_no_rule_fits_has_none() -> None:
    assert variants(ADDITION, "cpu", "half", ()) == []
    assert variants("class Model(", "cpu", "half", ON_CPU) == []
