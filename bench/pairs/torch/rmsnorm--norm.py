"""Mean square from the vector norm."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        total = x + residual
        square = torch.linalg.vector_norm(total, dim=-1, keepdim=True).square_().div_(total.shape[-1])
        return (total * square.add_(self.epsilon).rsqrt_()).mul_(self.gain), total
