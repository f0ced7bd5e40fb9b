# id: H7
# kind: a transposed view as output
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

    def forward(self, x):
        logits = x.t() * self.scale[:, None] + self.bias[:, None]
        return torch.softmax(self.cap * torch.tanh(logits / self.cap), dim=0).t()
