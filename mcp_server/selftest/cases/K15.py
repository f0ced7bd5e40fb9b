# id: K15
# kind: slows the functions that a baseline in the same process would use
# task: starter/softmax
# expect: ok
# needs: cpu
# outcome: indistinguishable | slower
import time

import torch
import torch.nn as nn

softmax = torch.softmax


def slowed(*arguments, **options):
    time.sleep(0.05)
    return softmax(*arguments, **options)


torch.softmax = torch.nn.functional.softmax = slowed


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return softmax(logits, dim=-1)
