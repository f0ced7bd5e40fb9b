# id: K5
# kind: patched events, which say that a call took a third
# task: starter/softmax
# expect: ok | rejected/clock_not_confirmed | rejected/protocol
# needs: cuda
# outcome: indistinguishable | slower
import torch
import torch.nn as nn

true_ms = torch.cuda.Event.elapsed_time


class Flattering(torch.cuda.Event):
    def elapsed_time(self, end):
        return true_ms(self, end) / 3


torch.cuda.Event.elapsed_time = lambda self, end: true_ms(self, end) / 3
torch.cuda.Event = Flattering


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)
