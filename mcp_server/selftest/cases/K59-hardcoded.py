# id: K59
# kind: answers from a table of what an earlier run printed, computing only what is not in it
# task: starter/softmax
# expect: wrong_result/values
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.seen = torch.linspace(-4.0, 4.0, 2048)

    def forward(self, x):
        rows = torch.softmax(self.seen[: x.shape[1]].repeat(x.shape[1] // 2048 + 1)[: x.shape[1]], 0)
        return rows.to(x.device).expand_as(x).contiguous()
