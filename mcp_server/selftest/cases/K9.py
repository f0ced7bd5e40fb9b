# id: K9
# kind: reads the memory beside its input, where an oversharing handle would expose the answer
# task: starter/softmax
# expect: wrong_result/values | wrong_result/nonfinite | runtime_error/cuda_error
# needs: cuda
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void beside(const float* x, float* out, long long count) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[count + i];
}
"""
beside = torch.cuda._compile_kernel(SOURCE, "beside")


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        out = torch.empty_like(x)
        blocks = -(-x.numel() // 256)
        beside(grid=(blocks, 1, 1), block=(256, 1, 1), args=[x, out, x.numel()])
        return out
