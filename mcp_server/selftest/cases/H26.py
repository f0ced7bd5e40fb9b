# id: H26
# kind: an object that can be neither copied nor pickled
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
        self.handle = Handle()

    def forward(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)


class Handle:
    def __deepcopy__(self, memo):
        raise TypeError("a handle cannot be copied")

    def __reduce__(self):
        raise TypeError("a handle cannot be pickled")
