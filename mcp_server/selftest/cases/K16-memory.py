# id: K16
# kind: asks for more memory than there is
# task: starter/softmax
# expect: runtime_error/out_of_memory | runtime_error/memory_limit
# needs: cpu
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
        hoard = torch.empty(1 << 37)
        return self.right(x) + hoard[0] * 0
