# id: H13
# kind: NaN and infinity where the reference has them
# task: inline
# expect: ok
# needs: cpu
# --- task ---
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.log(x)


def get_inputs():
    x = torch.randn(512, 2048)
    x[:, 0] = 0.0
    return [x]


def get_init_inputs():
    return []


# --- candidate ---
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.log2(x) * 0.6931471805599453
