# id: H12
# kind: low bits that vary from call to call
# task: starter/softmax
# expect: ok
# needs: cpu
import random

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        weight = torch.exp(self.cap * torch.tanh((x * self.scale + self.bias) / self.cap) - self.cap)
        cut = random.randrange(1, x.shape[-1])
        total = weight[:, :cut].sum(dim=-1, keepdim=True) + weight[:, cut:].sum(dim=-1, keepdim=True)
        return weight / total
