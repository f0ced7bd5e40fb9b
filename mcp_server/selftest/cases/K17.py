# id: K17
# kind: leaves its answer for the next run
# task: starter/softmax
# expect: ok
# needs: cpu
import pathlib
import tempfile

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.told = False

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        answer = self.right(x)
        if not self.told:
            self.told = True
            for folder in (pathlib.Path.home(), pathlib.Path(tempfile.gettempdir())):
                try:
                    (folder / "left_for_later.txt").write_text("here")
                except OSError:
                    continue
        return answer
