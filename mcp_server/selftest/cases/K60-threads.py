# id: K60
# kind: takes more threads than the original has
# task: starter/softmax
# expect: rejected/disturbs_baseline | ok
# needs: host
# outcome: indistinguishable | slower
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        torch.set_num_threads(os.cpu_count() or 1)

    def forward(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)
