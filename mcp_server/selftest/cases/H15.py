# id: H15
# kind: compiling or tuning at the first call
# task: starter/softmax
# expect: ok
# needs: cpu
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.tuned = False

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        if not self.tuned:
            self.tuned = True
            time.sleep(3.0)
        return self.right(x)
