"""The worked examples of the prompts, taken out and looked at; `shown()` hands them to other tests."""

import ast

import pytest

from strategies.reply import Found, candidate, change
from tests.strategies.shipped import TEMPLATES

EXAMPLES = [
    pytest.param(language, example, id=f"{language}-{example.device}-{i}")
    for language, guide in TEMPLATES.languages.items()
    for i, example in enumerate(guide.examples)
]
DEVICES = {
    "nvrtc": {"cuda"},
    "triton": {"cuda"},
    "pytorch": {"any"},
    "extern-c": {"cpu", "cuda"},
    "stable-abi": {"cpu", "cuda"},
    "torch-library": {"cpu", "cuda"},
    "load-inline": {"cpu", "cuda"},
}
ALLOWED = {"ctypes", "functools", "torch", "triton"}


def shown(device: str) -> dict[str, str]:
    """Title to source of every example that runs on a device."""
    return {
        f"{language}: {example.title}": example.source
        for language, guide in TEMPLATES.languages.items()
        for example in guide.examples
        if example.device in (device, "any")
    }


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_an_example_follows_the_rules_it_stands_beside(language: str, example: object) -> None:
    source = getattr(example, "source", "")
    assert change(source), f"{language}: the first line says what changes"
    assert candidate(f"```python\n{source}```") == Found(source)
    tree = ast.parse(source)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= ALLOWED


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_an_example_constructs_parameters_and_works_on_them_later(
    language: str, example: object
) -> None:
    tree = ast.parse(getattr(example, "source", ""))
    (model,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "ModelNew")
    methods = {n.name for n in model.body if isinstance(n, ast.FunctionDef)}
    assert {"__init__", "forward"} <= methods <= {"__init__", "forward", "prepare"}, language


def test_every_language_has_two_examples_or_one_for_each_device() -> None:
    for language, guide in TEMPLATES.languages.items():
        assert {example.device for example in guide.examples} == DEVICES[language]
        assert len(guide.examples) >= 2


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_examples_for_a_device_stay_on_it(device: str) -> None:
    sources = shown(device)
    assert len(sources) >= 7
    foreign = {"cpu": ("<<<", "torch.cuda", "@triton.jit"), "cuda": ("#pragma omp", "-fopenmp")}
    for title, source in sources.items():
        assert not any(mark in source for mark in foreign[device]), title
