# id: K39
# kind: two elements in a hundred are wrong
# task: starter/softmax
# expect: wrong_result/outliers | wrong_result/values | wrong_result/precision
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
        out = self.right(x)
        out.view(-1)[::50] *= 1.3
        return out
