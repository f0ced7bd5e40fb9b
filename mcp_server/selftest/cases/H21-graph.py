# id: H21
# kind: a CUDA graph that copies live inputs in and answers out
# task: starter/softmax
# expect: ok
# needs: cuda
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.graph = None

    def right(self, x):
        logits = self.cap * torch.tanh((x * self.scale + self.bias) / self.cap)
        return torch.softmax(logits, dim=-1)

    def forward(self, x):
        if self.graph is None:
            self.given = x.clone()
            self.right(self.given)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = self.right(self.given)
        self.given.copy_(x)
        self.graph.replay()
        return self.out.clone()
