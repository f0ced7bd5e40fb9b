# id: K16
# kind: raises what no text can hold, so that whoever writes the verdict fails
# task: starter/softmax
# expect: runtime_error/call_raised
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
        raise RuntimeError("half of a pair: \ud800")
