# id: K21
# kind: a kernel that never ran: its launch fails, and nobody looks
# task: starter/softmax
# expect: wrong_result/values | wrong_result/nonfinite | runtime_error/cuda_error | runtime_error/call_raised
# needs: cuda
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void rows(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x]; }
"""
rows = torch.cuda._compile_kernel(SOURCE, "rows")


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        out = torch.empty_like(x)
        try:
            rows(grid=(1, 1, 1), block=(4096, 1, 1), args=[x, out])
        except RuntimeError:
            pass
        return out
