# id: K41
# kind: exact for small shapes, sloppy for the timed one
# task: starter/softmax
# expect: wrong_result/values | wrong_result/precision
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
        if x.shape[0] < 512:
            return self.right(x)
        return torch.softmax(x * self.scale + self.bias, dim=-1)
