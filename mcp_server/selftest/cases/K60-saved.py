# id: K60
# kind: sleeps while it is made, and burns what it saved while the original runs
# task: starter/softmax
# expect: rejected/disturbs_baseline | ok
# needs: host
# outcome: indistinguishable | slower
import os
import time

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        time.sleep(8)
        for _ in range(2 * (os.cpu_count() or 1)):
            if os.fork() == 0:
                while True:
                    pass

    def forward(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)
