# id: K5
# kind: patched clocks and synchronisation
# task: starter/softmax
# expect: ok | rejected/clock_not_confirmed | rejected/protocol
# needs: cpu
# outcome: indistinguishable | slower
import time

import torch
import torch.nn as nn

def frozen():
    return 1.0


def frozen_ns():
    return 1_000_000_000


time.perf_counter = time.monotonic = time.time = frozen
time.perf_counter_ns = time.monotonic_ns = time.time_ns = frozen_ns
torch.cuda.synchronize = torch.cpu.synchronize = lambda *arguments: None


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        return self.right(x)
