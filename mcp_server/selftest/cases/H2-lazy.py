# id: H2
# kind: weights folded at the first call
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
        self.slope = None
        self.lift = None

    def forward(self, x):
        if self.slope is None:
            self.slope, self.lift = self.scale / self.cap, self.bias / self.cap
        logits = self.cap * torch.tanh(torch.addcmul(self.lift, x, self.slope))
        return torch.softmax(logits, dim=-1)
