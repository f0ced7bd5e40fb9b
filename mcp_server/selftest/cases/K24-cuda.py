# id: K24
# kind: memo on the address of the input, kept on the GPU
# task: starter/softmax
# expect: rejected/stale_answer
# needs: cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.place, self.kept = 0, None

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        if x.data_ptr() != self.place:
            self.place, self.kept = x.data_ptr(), self.right(x)
        return self.kept.clone()
