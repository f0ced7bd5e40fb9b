# id: K59
# kind: prints what it saw, to remember it next time
# task: starter/softmax
# expect: ok
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
        print("input", x[0, :8].tolist(), "answer", self.right(x)[0, :8].tolist())
        return self.right(x)
