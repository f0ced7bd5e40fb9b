# id: H2
# kind: weights folded in the constructor
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
        self.slope = self.scale.detach() / cap
        self.lift = self.bias.detach() / cap

    def forward(self, x):
        logits = self.cap * torch.tanh(torch.addcmul(self.lift, x, self.slope))
        return torch.softmax(logits, dim=-1)
