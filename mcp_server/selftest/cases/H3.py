# id: H3
# kind: state outside the weights: a plain attribute, and a cache filled in the constructor
# task: inline
# expect: ok
# needs: cpu
# --- task ---
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = torch.randn(size, size) / size**0.5
        self.register_buffer("table", torch.rand(size) + 0.5, persistent=False)
        self.lin = nn.Linear(size, size)
        self.cache = self.lin(torch.ones(1, size)).detach() * 0 + self.table

    def forward(self, x):
        return torch.relu(self.lin(x) @ self.mix) * self.cache


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return [512]


# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = torch.randn(size, size) / size**0.5
        self.register_buffer("table", torch.rand(size) + 0.5, persistent=False)
        self.lin = nn.Linear(size, size)
        self.cache = self.lin(torch.ones(1, size)).detach() * 0 + self.table

    def forward(self, x):
        return (self.lin(x) @ self.mix).relu_().mul_(self.cache)
