# id: K51
# kind: a slow warm-up
# task: starter/softmax
# expect: ok
# needs: cpu
# outcome: indistinguishable | slower
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.calls = 0

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        self.calls += 1
        if self.calls < 6:
            time.sleep(0.05)
        return self.right(x)
