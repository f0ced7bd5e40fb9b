# id: K43
# kind: an approximation good only for what is drawn most
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

    def forward(self, x):
        v = (x * self.scale + self.bias) / self.cap
        return torch.softmax(self.cap * (v - v * v * v / 3.0), dim=-1)
