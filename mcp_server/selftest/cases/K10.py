# id: K10
# kind: a result that is code: pickles sent to whoever listens
# task: starter/softmax
# expect: rejected/protocol | rejected/ended_early
# needs: cpu
import os
import pickle

import torch
import torch.nn as nn

class Bomb:
    def __reduce__(self):
        return os._exit, (0,)


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
        payload = pickle.dumps(Bomb())
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, payload)
            except OSError:
                continue
        return self.right(x)
