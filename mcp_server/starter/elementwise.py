"""Gated activation: a scaled and shifted SiLU times a softplus gate."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows, channels = (2048, 8192) if torch.cuda.is_available() else (512, 1024)


class Model(nn.Module):
    """Element by element, with a scale and a shift for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """Return silu(x * scale + shift) * softplus(gate), shape (rows, channels)."""
        return F.silu(x * self.scale + self.shift) * F.softplus(gate)


def get_inputs():
    return [torch.randn(rows, channels), torch.randn(rows, channels)]


def get_init_inputs():
    return [channels]
