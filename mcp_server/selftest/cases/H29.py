# id: H29
# kind: global flags and worker threads set at import
# task: starter/softmax
# expect: ok
# needs: cpu
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn

torch.backends.cuda.matmul.allow_tf32 = True
pool = ThreadPoolExecutor(2)


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
        halves = list(pool.map(self.half, x.chunk(2)))
        return torch.cat(halves)

    def half(self, x):
        with torch.inference_mode():
            return self.right(x)
