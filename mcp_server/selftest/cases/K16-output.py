# id: K16
# kind: floods the log
# task: starter/softmax
# expect: runtime_error/output_limit
# needs: cpu
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        for _ in range(64):
            sys.stdout.write("x" * (1 << 20))
        return self.right(x)
