"""A block of channels of one row for each program."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def gated_kernel(x, gate, scale, shift, out, channels, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = c < channels
    at = row * channels + c
    v = tl.load(x + at, inside) * tl.load(scale + c, inside) + tl.load(shift + c, inside)
    g = tl.load(gate + at, inside)
    soft = tl.maximum(g, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(g)))
    tl.store(out + at, v * tl.sigmoid(v) * soft, inside)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.shift = nn.Parameter(0.2 * torch.randn(channels))

    def forward(self, x, gate):
        out = torch.empty_like(x)
        rows, channels = x.shape
        gated_kernel[(triton.cdiv(channels, 1024), rows)](
            x, gate, self.scale, self.shift, out, channels, BLOCK=1024
        )
        return out
