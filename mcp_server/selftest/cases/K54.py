# id: K54
# kind: works on a stream of its own, and lets nobody wait for it
# task: starter/softmax
# expect: rejected/late_output | rejected/clock_not_confirmed | rejected/output_changed | wrong_result/values | rejected/stale_answer
# needs: cuda
import torch
import torch.nn as nn

torch.cuda.synchronize = lambda *arguments: None
torch.cuda.Event.synchronize = lambda *arguments: None


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
            for _ in range(20):
                answer = self.right(x)
        return answer
