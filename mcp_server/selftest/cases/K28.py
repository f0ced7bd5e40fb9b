# id: K28
# kind: a thread writes the answer after it was given
# task: starter/softmax
# expect: rejected/late_output | rejected/output_changed | wrong_result/values
# needs: cpu
import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        out = torch.empty_like(x)
        threading.Thread(target=self.work, args=(x.clone(), out), daemon=True).start()
        return out

    def work(self, x, out):
        with torch.inference_mode():
            out.copy_(self.right(x))
