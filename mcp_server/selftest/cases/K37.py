# id: K37
# kind: a shorter tuple
# task: starter/rmsnorm
# expect: wrong_result/structure
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        total = x + residual
        rate = torch.rsqrt(total.pow(2).mean(dim=-1, keepdim=True) + self.epsilon)
        return (total * rate * self.gain,)
