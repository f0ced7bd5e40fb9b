# id: K49
# kind: asks for persisting L2 lines that outlive the flush; the answer is right
# task: starter/softmax
# expect: ok
# needs: cuda
# outcome: indistinguishable | slower
import ctypes

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        runtime = ctypes.CDLL("libcudart.so.%s" % (torch.version.cuda or "12").split(".")[0])
        runtime.cudaDeviceSetLimit(6, ctypes.c_size_t(1 << 30))

    def forward(self, x):
        logits = x * self.scale + self.bias
        logits = self.cap * torch.tanh(logits / self.cap)
        return torch.softmax(logits, dim=-1)
