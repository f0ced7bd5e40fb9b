"""A row for each program, held in registers."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, residual, gain, normed, total, width, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < width
    at = row * width + c
    t = tl.load(x + at, inside, 0.0) + tl.load(residual + at, inside, 0.0)
    tl.store(total + at, t, inside)
    inverse = tl.rsqrt(tl.sum(t * t, 0) / width + epsilon)
    tl.store(normed + at, t * inverse * tl.load(gain + c, inside), inside)


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        normed, total = torch.empty_like(x), torch.empty_like(x)
        rows, width = x.shape
        block = triton.next_power_of_2(width)
        rmsnorm_kernel[(rows,)](
            x, residual, self.gain, normed, total, width, self.epsilon, BLOCK=block, num_warps=8
        )
        return normed, total
