# id: K45
# kind: uses the input as workspace
# task: starter/softmax
# expect: rejected/input_changed | rejected/aliased_output
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
        x.mul_(self.scale).add_(self.bias).div_(self.cap).tanh_().mul_(self.cap)
        return torch.softmax(x, dim=-1)
