# id: K2
# kind: a clean exit taken for success
# task: starter/softmax
# expect: rejected/ended_early
# needs: cpu
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        os._exit(0)
