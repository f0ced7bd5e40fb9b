# id: K16
# kind: a kernel writes where it may not, and spoils its context
# task: starter/softmax
# expect: runtime_error/cuda_error | runtime_error/crashed
# needs: cuda
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void spoil(float* x) { x[threadIdx.x + (1ll << 44)] = 1.0f; }
"""
spoil = torch.cuda._compile_kernel(SOURCE, "spoil")


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        out = torch.empty_like(x)
        spoil(grid=(1, 1, 1), block=(32, 1, 1), args=[out])
        return out
