# id: K12
# kind: rebinds sizes and functions of the task
# task: starter/softmax
# expect: wrong_result/shape
# needs: cpu
import builtins
import sys

import torch
import torch.nn as nn

rows, columns = 1, 1
for module in list(sys.modules.values()):
    for name, value in (("rows", 1), ("columns", 1), ("get_inputs", lambda: [torch.zeros(1, 1)])):
        if hasattr(module, name) and module is not builtins:
            try:
                setattr(module, name, value)
            except (AttributeError, TypeError):
                continue


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
        return self.right(x[:1])
