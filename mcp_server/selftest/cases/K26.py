# id: K26
# kind: one call does the work for every input buffer it has seen
# task: starter/softmax
# expect: rejected/stale_answer | rejected/timed_answer_wrong | wrong_result/values | wrong_result/unrepeatable
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.known, self.ready = {}, {}

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        self.known[x.data_ptr()] = x
        answer = self.ready.pop(x.data_ptr(), None)
        if answer is not None:
            return answer
        self.ready = {place: self.right(one) for place, one in self.known.items()}
        return self.ready.pop(x.data_ptr())
