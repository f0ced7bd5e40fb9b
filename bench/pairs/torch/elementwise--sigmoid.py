"""SiLU written out as a product with its sigmoid."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        inner = x * self.scale + self.shift
        return torch.sigmoid(inner).mul_(inner).mul_(F.softplus(gate))
