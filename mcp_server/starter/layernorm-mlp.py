"""Transformer feed-forward block: LayerNorm, two linear layers with GELU between, residual."""

import torch
import torch.nn as nn
import torch.nn.functional as F

tokens, width, hidden = (16384, 512, 2048) if torch.cuda.is_available() else (2048, 64, 256)


class Model(nn.Module):
    """x + contract(gelu(expand(layernorm(x)))), GELU in its tanh form."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the block's output, shape (tokens, width) as x."""
        inner = F.gelu(self.expand(self.norm(x)), approximate="tanh")
        return x + self.contract(inner)


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, hidden]
