# id: H6
# kind: a dictionary, None and a number as output
# task: inline
# expect: ok
# needs: cpu
# --- task ---
"""Scaled rows and their ranges, in a nested structure."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        scaled = x * self.weight
        return {
            "scaled": scaled,
            "range": [scaled.amin(dim=-1), (scaled.amax(dim=-1), None)],
            "count": x.shape[0],
        }


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return [512]
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        scaled = x * self.weight
        low, high = torch.aminmax(scaled, dim=-1)
        return {"count": x.shape[0], "range": [low, (high, None)], "scaled": scaled}
