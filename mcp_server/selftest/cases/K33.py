# id: K33
# kind: identity in place of a normalisation
# task: starter/rmsnorm
# expect: wrong_result/values
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
        return total * (self.gain * 0.70710678), total
