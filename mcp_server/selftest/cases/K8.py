# id: K8
# kind: fills every tensor that could hold the expected answer with NaN, and answers NaN
# task: starter/softmax
# expect: wrong_result/nonfinite | rejected/input_changed
# needs: cpu
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        own = {id(self.scale), id(self.bias), id(x)}
        for found in gc.get_objects():
            if isinstance(found, torch.Tensor) and id(found) not in own and found.is_floating_point():
                try:
                    found.fill_(float("nan"))
                except RuntimeError:
                    continue
        return torch.full_like(x, float("nan"))
