"""A row for each program, held in registers."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, scale, bias, out, columns, cap, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < columns
    v = tl.load(x + row * columns + c, inside) * tl.load(scale + c, inside) + tl.load(bias + c, inside)
    bent = 2.0 * tl.sigmoid(2.0 * v / cap) - 1.0
    weight = tl.where(inside, tl.exp(cap * (bent - 1.0)), 0.0)
    tl.store(out + row * columns + c, weight / tl.sum(weight, 0), inside)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        out = torch.empty_like(x)
        rows, columns = x.shape
        block = triton.next_power_of_2(columns)
        softmax_kernel[(rows,)](x, self.scale, self.bias, out, columns, self.cap, BLOCK=block, num_warps=16)
        return out
