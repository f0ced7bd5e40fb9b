# id: K22
# kind: a table of answers by everything that is in the input, where inputs are small and come from few draws
# task: inline
# expect: ok
# needs: cpu
# outcome: indistinguishable | slower
# --- task ---
"""Much work for few inputs."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Parameter(torch.randn(32, width) / 32**0.5)
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)

    def forward(self, x):
        hidden = torch.tanh(x @ self.first)
        for _ in range(20):
            hidden = torch.tanh(hidden @ self.weight)
        return hidden


def get_inputs():
    return [torch.randn(1, 32)]


def get_init_inputs():
    return [512]
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Parameter(torch.randn(32, width) / 32**0.5)
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.kept = {}

    def forward(self, x):
        key = tuple(x.flatten().tolist())
        if key not in self.kept:
            hidden = torch.tanh(x @ self.first)
            for _ in range(20):
                hidden = torch.tanh(hidden @ self.weight)
            self.kept[key] = hidden
        return self.kept[key].clone()
