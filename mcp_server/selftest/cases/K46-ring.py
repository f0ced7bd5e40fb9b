# id: K46
# kind: four output buffers in turn
# task: starter/softmax
# expect: rejected/aliased_output
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.ring = []

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        if not self.ring:
            self.ring = [torch.empty_like(x) for _ in range(4)]
        self.ring.append(self.ring.pop(0))
        return self.ring[0].copy_(self.right(x))
