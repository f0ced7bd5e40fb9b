# id: H24
# kind: sets TF32 itself, on and off
# task: starter/layernorm-mlp
# expect: ok
# needs: cuda
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = True


class ModelNew(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x):
        torch.backends.cuda.matmul.allow_tf32 = True
        inner = F.gelu(self.expand(self.norm(x)), approximate="tanh")
        torch.backends.cuda.matmul.allow_tf32 = False
        return x + self.contract(inner)
