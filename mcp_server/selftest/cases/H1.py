# id: H1
# kind: parameters created in another order, extra random draws
# task: starter/layernorm-mlp
# expect: ok
# needs: cpu
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        torch.randn(123)
        self.contract = nn.Linear(hidden, width)
        self.expand = nn.Linear(width, hidden)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        inner = F.gelu(self.expand(self.norm(x)), approximate="tanh")
        return x + self.contract(inner)
