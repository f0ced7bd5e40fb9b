# id: K16
# kind: dies of a signal
# task: starter/softmax
# expect: runtime_error/crashed
# needs: cpu
import ctypes

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return torch.tensor(ctypes.string_at(0, 8))
