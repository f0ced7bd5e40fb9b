# id: K22
# kind: memo on the shape alone
# task: starter/softmax
# expect: rejected/stale_answer | wrong_result/values
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.known = None

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        if self.known is None:
            self.known = self.right(x)
        return self.known.clone()
