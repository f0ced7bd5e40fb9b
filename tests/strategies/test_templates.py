"""Templates are refused early, and filled without a second look at the values."""

import pytest

from strategies.errors import TemplateRefused
from strategies.protocol import PromptRole
from strategies.templates import REQUIRED, parse
from tests.strategies.shipped import TEMPLATES, texts

EXAMPLE = "How.\n\n## cpu: One\n\n```python\nclass ModelNew:\n    pass\n```\n"


def with_text(**changes: str) -> dict[str, str]:
    return texts() | {f"{name.replace('_', '-')}.md": text for name, text in changes.items()}


def test_every_role_and_every_language_has_a_template() -> None:
    assert set(TEMPLATES.texts) == {*map(str, PromptRole), "rules", "judging", "tools"}
    assert set(TEMPLATES.languages) == {
        "nvrtc",
        "triton",
        "extern-c",
        "stable-abi",
        "torch-library",
        "load-inline",
        "pytorch",
    }


def test_an_unknown_placeholder_fails_at_load_with_the_nearest_known_one() -> None:
    text = texts()["start.md"] + "{{ originals }}"
    with pytest.raises(TemplateRefused, match=r"unknown placeholder {{originals}}.*'original'"):
        parse(with_text(start=text))


@pytest.mark.parametrize("name", [str(name) for name in REQUIRED])
def test_a_missing_template_fails_at_load(name: str) -> None:
    kept = {key: text for key, text in texts().items() if key != f"{name}.md"}
    with pytest.raises(TemplateRefused, match=f"{name}.md is missing"):
        parse(kept)


@pytest.mark.parametrize(
    ("name", "placeholder"), [(str(n), p) for n, required in REQUIRED.items() for p in required]
)
def test_a_template_that_does_not_show_what_it_must_fails_at_load(
    name: str, placeholder: str
) -> None:
    text = texts()[f"{name}.md"].replace("{{" + placeholder + "}}", "")
    with pytest.raises(TemplateRefused, match="must show {{" + placeholder + "}}"):
        parse({**texts(), f"{name}.md": text})


def test_where_prompts_begin_to_differ_is_a_line_of_its_own() -> None:
    text = texts()["start.md"].replace("{{varies}}", "now {{varies}}")
    with pytest.raises(TemplateRefused, match="line of its own"):
        parse(with_text(start=text))


@pytest.mark.parametrize(
    "text",
    [
        "How.",
        EXAMPLE + "\n## gpu: Two\n\n```python\nclass ModelNew:\n    pass\n```\n",
        "How.\n\n## cpu: One\n\n```python\nclass ModelNew(:\n```\n",
        "How.\n\n## cpu: One\n\n```python\nclass Model:\n    pass\n```\n",
    ],
)
def test_examples_of_the_wrong_form_fail_at_load(text: str) -> None:
    with pytest.raises(TemplateRefused, match=r"example-own\.md"):
        parse(with_text(example_own=text))


def test_a_new_language_needs_a_file_only() -> None:
    guide = parse(with_text(example_own=EXAMPLE)).languages["own"]
    assert (guide.summary, guide.examples[0].device) == ("How.", "cpu")


def test_a_line_with_an_empty_value_vanishes_with_the_blank_line_after_it() -> None:
    templates = parse(with_text(again="a {{prompt}}\n\n{{fault}}\n\nb\n"))
    assert templates.fill("again", {"prompt": "x", "fault": ""}) == "a x\n\nb\n"
    assert templates.fill("again", {"prompt": "x", "fault": "y"}) == "a x\n\ny\n\nb\n"


def test_a_placeholder_within_a_value_stays_as_it_is() -> None:
    filled = TEMPLATES.fill("again", {"prompt": "{{fault}} \\1", "fault": "{{prompt}}"})
    assert filled.startswith("{{fault}} \\1\n")
    assert filled.rstrip().endswith("{{prompt}}")


def test_the_digest_follows_the_text_and_not_the_order_of_the_files() -> None:
    turned = dict(reversed(texts().items()))
    assert parse(turned).digest == TEMPLATES.digest
    assert parse(with_text(again=texts()["again.md"] + "!")).digest != TEMPLATES.digest
