# id: K2
# kind: exit code zero after a wrong first answer
# task: starter/softmax
# expect: rejected/ended_early | wrong_result/values
# needs: cpu
import os
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.asked = False

    def forward(self, x):
        if self.asked:
            sys.stdout.flush()
            os._exit(0)
        self.asked = True
        return torch.zeros_like(x)
