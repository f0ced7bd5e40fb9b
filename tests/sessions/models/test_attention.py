from __future__ import annotations

import pytest

from sessions.models.attention import fused, has_attention
from sessions.models.attention_steps import CALL
from tests.sessions.models.corpus import TASKS


def in_forward(*lines: str, init: str = "pass") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"class M:\n    def __init__(self, d):\n        {init}\n    def forward(self, q, k, v, m):\n{body}\n"


@pytest.mark.parametrize("name", ["gpt", "cross-attention", "attention", "windows-lines"])
def test_attention_as_people_write_it_is_found(name: str) -> None:
    assert has_attention(TASKS[name])
    assert fused(TASKS[name]).count(CALL) == 1
    assert "softmax(" not in fused(TASKS[name]).replace("nn.Softmax(", "")


@pytest.mark.parametrize(
    "lines",
    [
        ["w = torch.softmax(q @ k.mT, dim=-1)", "return w @ v, w"],
        ["s = q @ k.mT", "q = q + 1", "return torch.softmax(s, -1) @ v"],
        ["return torch.softmax(q @ k.mT, dim=1) @ v"],
        ["return torch.softmax(q @ k.mT * m, dim=-1) @ v"],
        ["return torch.softmax(torch.relu(q @ k.mT), dim=-1) @ v"],
        ["return (q @ k.mT) @ v"],
        ["s = q @ k.mT; t = 1", "return torch.softmax(s, dim=-1) @ v * t"],
        ["s = q @ k.mT", "if m: s = s * 2", "return torch.softmax(s, dim=-1) @ v"],
        ["return torch.softmax(q @ k.mT, dim=-1, dtype=torch.float64) @ v"],
    ],
)
def test_what_does_not_surely_match_is_left_alone(lines: list[str]) -> None:
    source = in_forward(*lines)
    assert fused(source) == source


@pytest.mark.parametrize(
    ("line", "init", "call"),
    [
        ("return F.softmax(q @ k.mT / 8.0, dim=-1) @ v", "pass", "(q, k, v, scale=1.0 / (8.0))"),
        (
            "return (q @ k.transpose(-1, -2) * self.s).softmax(-1) @ v",
            "self.s = d ** -0.5",
            "(q, k, v, scale=(self.s))",
        ),
        (
            "return torch.softmax(torch.matmul(q, k).masked_fill(m, -1e9), -1).matmul(v)",
            "pass",
            "(q, (k).transpose(-2, -1), v, attn_mask=torch.logical_not(m), scale=1.0)",
        ),
        (
            "return torch.bmm(self.d(torch.softmax(q @ k.mT + m, dim=-1)), v)",
            "self.d = nn.Dropout(0.1)",
            "(q, k, v, dropout_p=self.d.p if self.d.training else 0.0, attn_mask=m, scale=1.0)",
        ),
    ],
)
def test_each_step_becomes_an_argument(line: str, init: str, call: str) -> None:
    assert f"return {CALL}{call}\n" in fused(in_forward(line, init=init))


def test_a_scale_that_may_be_a_tensor_is_left_alone() -> None:
    source = in_forward(
        "return torch.softmax(q @ k.mT * self.t, dim=-1) @ v", init="self.t = nn.Parameter(d)"
    )
    assert fused(source) == source
