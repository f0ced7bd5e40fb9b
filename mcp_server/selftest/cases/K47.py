# id: K47
# kind: the original as a fallback
# task: starter/softmax
# expect: compile_error/import_failed
# needs: cpu
from task import Model

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.original = Model(columns, cap)

    def forward(self, x):
        return self.original(x)
