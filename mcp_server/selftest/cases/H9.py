# id: H9
# kind: in-place use of an input, as the reference does
# task: inline
# expect: ok
# needs: cpu
# --- task ---
"""Sine of twice the input, which is doubled in place."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        x.mul_(2.0)
        return x.sin()


def get_inputs():
    return [torch.randn(256, 1024)]


def get_init_inputs():
    return []
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        torch.mul(x, 2.0, out=x)
        return torch.sin(x)
