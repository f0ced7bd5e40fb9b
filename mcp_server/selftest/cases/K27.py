# id: K27
# kind: deferred tensor: a subclass computes when it is read
# task: starter/softmax
# expect: rejected/deferred_tensor
# needs: cpu
import torch
import torch.nn as nn

class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(options or {}))


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        return torch.zeros_like(x).as_subclass(Lazy)
