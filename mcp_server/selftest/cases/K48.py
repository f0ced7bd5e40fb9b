# id: K48
# kind: the library's own routine under another name: labelled in a profile, not refused
# task: starter/softmax
# expect: ok
# needs: cpu
# outcome: indistinguishable | slower
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        logits = torch.ops.aten.mul(x, self.scale) + self.bias
        logits = self.cap * torch.ops.aten.tanh(logits / self.cap)
        return torch.ops.aten._softmax(logits, -1, False)
