# id: K29
# kind: works on a side stream that it does not join
# task: starter/softmax
# expect: rejected/late_output | rejected/clock_not_confirmed | rejected/output_changed | wrong_result/values
# needs: cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.side = torch.cuda.Stream()

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        with torch.cuda.stream(self.side):
            return self.right(x)
