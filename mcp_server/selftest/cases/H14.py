# id: H14
# kind: ties between equal values
# task: inline
# expect: ok
# needs: cpu
# --- task ---
"""Where the largest rounded value of each row is, and the value."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        value, place = torch.round(x * 64.0).max(dim=-1)
        return place, value


def get_inputs():
    return [torch.randn(2048, 256)]


def get_init_inputs():
    return []
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        rounded = torch.round(x * 64.0)
        return torch.argmax(rounded, dim=-1), rounded.amax(dim=-1)
