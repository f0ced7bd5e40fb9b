# id: K34
# kind: the affine part of a normalisation skipped
# task: starter/layernorm-mlp
# expect: wrong_result/values
# needs: cpu
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x):
        inner = F.gelu(self.expand(F.layer_norm(x, x.shape[-1:])), approximate="tanh")
        return x + self.contract(inner)
