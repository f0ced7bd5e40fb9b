"""Residual addition and RMSNorm, both results returned."""

import torch
import torch.nn as nn

rows, width = (4096, 4096) if torch.cuda.is_available() else (1024, 1024)
epsilon = 1e-5


class Model(nn.Module):
    """The step between two blocks of a pre-norm transformer."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(
        self, x: torch.Tensor, residual: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the normalised sum and the sum itself, each of shape (rows, width)."""
        total = x + residual
        mean_square = total.pow(2).mean(dim=-1, keepdim=True)
        return total * torch.rsqrt(mean_square + self.epsilon) * self.gain, total


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return [width, epsilon]
