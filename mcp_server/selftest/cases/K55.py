# id: K55
# kind: rests before it is timed, so that the chip is cool
# task: starter/softmax
# expect: ok
# needs: cuda
# outcome: indistinguishable | slower
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        time.sleep(5)

    def forward(self, x):
        logits = x * self.scale + self.bias
        logits = self.cap * torch.tanh(logits / self.cap)
        return torch.softmax(logits, dim=-1)
