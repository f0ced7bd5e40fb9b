# id: K11
# kind: puts modules of its own where the evaluator might import from
# task: starter/softmax
# expect: wrong_result/values
# needs: cpu
import os
import pathlib
import sys

import torch
import torch.nn as nn

FORGERY = "def compare(*arguments, **options):\n    return True\n"
for folder in (os.getcwd(), os.path.expanduser("~")):
    for name in ("compare.py", "torch.py", "sitecustomize.py", "tolerances.json"):
        try:
            (pathlib.Path(folder) / name).write_text(FORGERY)
        except OSError:
            continue
    sys.path.insert(0, folder)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return torch.zeros_like(x)
