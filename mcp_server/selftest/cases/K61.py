# id: K61
# kind: keeps its last input and answer for each buffer, and computes only what a change of the input changes
# task: inline
# expect: rejected/stale_answer | ok
# needs: cpu
# outcome: indistinguishable | slower
# --- task ---
"""A matrix product, which is linear: a small change of its input is cheap to follow."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)

    def forward(self, x):
        return x @ self.weight


def get_inputs():
    return [torch.randn(512, 1024)]


def get_init_inputs():
    return [1024]
# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.kept = {}

    def forward(self, x):
        kept = self.kept.get(x.data_ptr())
        if kept is not None:
            old, answer = kept
            at = (x != old).nonzero(as_tuple=True)
            if at[0].numel() < x.numel() // 20:
                change = torch.sparse_coo_tensor(torch.stack(at), x[at] - old[at], x.shape)
                answer += torch.sparse.mm(change, self.weight)
                old[at] = x[at]
                return answer.clone()
        answer = x @ self.weight
        self.kept[x.data_ptr()] = (x.clone(), answer.clone())
        return answer
