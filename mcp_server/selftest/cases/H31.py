# id: H31
# kind: asks for a number in the midst of each call
# task: inline
# expect: ok
# needs: cpu
# --- task ---
"""Rows scaled by the largest of them all, where that is not small."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        largest = x.abs().max()
        return x / torch.clamp(largest, min=1.0)


def get_inputs():
    return [torch.randn(256, 1024)]


def get_init_inputs():
    return []
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        largest = x.abs().max().item()
        return x / largest if largest > 1.0 else x.clone()
