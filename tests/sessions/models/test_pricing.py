from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.models.port import Usage
from sessions.models.pricing import Pricing
from strategies.protocol import PromptRole
from tests.sessions.models.asking import context, prompt

TOKENS = st.integers(0, 200_000)


def test_a_host_is_priced_by_its_address() -> None:
    used = Usage(1_000_000, 0, 0, 0)
    name = "anthropic/claude-sonnet-5.5"
    by_address = Pricing(name, url="https://openrouter.ai/api/v1").cost_usd(used)
    assert by_address == Pricing(name, "openrouter").cost_usd(used)
    assert by_address is not None
    assert Pricing("claude-sonnet-5-5", url="http://127.0.0.1:8000/v1").cost_usd(used) is None


def test_a_model_of_nobody_has_no_price() -> None:
    assert Pricing("nonesuch", "anthropic").cost_usd(Usage(1, 0, 0, 1)) is None
    assert Pricing("gpt-5").cost_usd(Usage(1, 0, 0, 1)) is None


def test_counts_that_contradict_each_other_have_no_price() -> None:
    assert Pricing("gpt-5", "openai").cost_usd(Usage(10, 100, 0, 1)) is None


def test_a_price_of_zero_is_a_price() -> None:
    assert Pricing("local", price_in=0.0, price_out=0.0).cost_usd(Usage(5, 0, 0, 5)) == 0.0


@settings(deadline=None)
@given(TOKENS, TOKENS, st.text(max_size=400))
def test_an_estimate_is_never_below_what_the_answer_costs(
    answered: int, most: int, text: str
) -> None:
    pricing = Pricing("claude-sonnet-5-5", "anthropic")
    asked = prompt(PromptRole.START, context(), text)
    estimate = pricing.estimate_usd(asked, max(answered, most))
    # No tokenizer makes more than a token of two bytes here and there; the text counts whole.
    cost = pricing.cost_usd(Usage(len(text.encode("utf-8", "replace")) // 2, 0, 0, answered))
    assert estimate is not None
    assert cost is not None
    assert estimate >= cost
