"""Causal self-attention with several heads, written out step by step."""

import math

import torch
import torch.nn as nn

batch, tokens, width, heads = (8, 1024, 1024, 16) if torch.cuda.is_available() else (2, 192, 192, 6)


class Model(nn.Module):
    """One projection for queries, keys and values, masked scores, and an output projection."""

    def __init__(self, width: int, heads: int, tokens: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("later", torch.ones(tokens, tokens, dtype=torch.bool).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attend over earlier tokens; x and the result have shape (batch, tokens, width)."""
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (
            part.reshape(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(self.later[:tokens, :tokens], float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))


def get_inputs():
    return [torch.randn(batch, tokens, width)]


def get_init_inputs():
    return [width, heads, tokens]
