"""Intermediate results written over."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        inner = torch.addcmul(self.shift, x, self.scale)
        return F.silu(inner, inplace=True).mul_(F.softplus(gate))
