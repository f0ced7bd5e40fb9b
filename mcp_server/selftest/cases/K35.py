# id: K35
# kind: a task whose answer hardly depends on its input
# task: inline
# expect: task_unfit/weak_signal | task_unfit/mutant_accepted
# needs: cpu
# --- task ---
"""A sigmoid of a number scaled down to nothing."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x * 1e-7)


def get_inputs():
    return [torch.randn(256, 1024)]


def get_init_inputs():
    return []
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.full_like(x, 0.5)
