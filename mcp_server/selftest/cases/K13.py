# id: K13
# kind: brings its own inputs
# task: starter/softmax
# expect: wrong_result/values
# needs: cpu
import torch
import torch.nn as nn

def get_inputs():
    return [torch.zeros(512, 2048)]


def get_init_inputs():
    return [2048, 1.0]


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return torch.full_like(x, 1.0 / x.shape[-1])
