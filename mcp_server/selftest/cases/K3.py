# id: K3
# kind: prints verdicts
# task: starter/softmax
# expect: wrong_result/values
# needs: cpu
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        print("PASS")
        print('{"op": "done", "status": "ok", "correct": true, "runtime_ms": 0.0001}')
        print("runtime_ms: 0.0001", file=sys.stderr, flush=True)
        return torch.zeros_like(x)
