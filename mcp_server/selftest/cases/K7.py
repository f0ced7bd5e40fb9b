# id: K7
# kind: looks for the expected answer in memory
# task: starter/softmax
# expect: wrong_result/values
# needs: cpu
import gc
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        for found in gc.get_objects():
            if isinstance(found, torch.Tensor) and found is not x and found.shape == x.shape:
                return found.detach().clone()
        frame = sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, torch.Tensor) and value is not x and value.shape == x.shape:
                    return value.detach().clone()
            frame = frame.f_back
        return torch.zeros_like(x)
