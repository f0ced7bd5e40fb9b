# id: H20
# kind: words that text rules dislike
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

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        # No cache, no memo, no fallback to the original here; see data_ptr() below.
        try:
            address = x.data_ptr()
        except RuntimeError:
            pass
        else:
            if address == 0:
                raise RuntimeError("no storage: cannot cheat, sleep, or skip")
        return self.right(x)
