"""Soft cap in place, torch's own softmax."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        logits = torch.addcmul(self.bias, x, self.scale)
        logits.div_(self.cap).tanh_().mul_(self.cap)
        return torch.softmax(logits, dim=-1)
