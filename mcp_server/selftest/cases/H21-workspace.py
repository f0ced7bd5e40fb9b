# id: H21
# kind: a workspace and folded weights kept between calls
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
        self.space = None

    def forward(self, x):
        if self.space is None or self.space.shape != x.shape:
            self.space = torch.empty_like(x)
            self.slope, self.lift = self.scale / self.cap, self.bias / self.cap
        torch.addcmul(self.lift, x, self.slope, out=self.space)
        return torch.softmax(self.space.tanh_().mul_(self.cap), dim=-1)
