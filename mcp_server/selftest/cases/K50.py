# id: K50
# kind: evict-last hints keep an input's lines; the answer is right
# task: starter/softmax
# expect: ok
# needs: cuda
import torch
import torch.nn as nn

SOURCE = r"""
extern "C" __global__ void hold(const float* x, long long count, float* sum) {
    float total = 0.0f;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
         i += (long long)gridDim.x * blockDim.x) {
        float value;
        asm volatile("ld.global.L2::evict_last.f32 %0, [%1];" : "=f"(value) : "l"(x + i));
        total += value;
    }
    if (total == 12345.678f) *sum = total;
}
"""
hold = torch.cuda._compile_kernel(SOURCE, "hold")


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))
        self.register_buffer("sum", torch.zeros(1), persistent=False)

    def forward(self, x):
        hold(grid=(64, 1, 1), block=(256, 1, 1), args=[x, x.numel() // 8, self.sum])
        logits = x * self.scale + self.bias
        logits = self.cap * torch.tanh(logits / self.cap)
        return torch.softmax(logits, dim=-1)
