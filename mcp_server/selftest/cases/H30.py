# id: H30
# kind: a bfloat16 Triton kernel on a CPU
# task: starter/softmax
# expect: infra_error/not_checkable | ok
# needs: cpu
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, scale, bias, out, columns, cap, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    value = value * tl.load(scale + at, mask=inside, other=0.0)
    value = value + tl.load(bias + at, mask=inside, other=0.0)
    bent = cap - 2.0 * cap / (tl.exp(2.0 * value.to(tl.float32) / cap) + 1.0)
    bent = tl.where(inside, bent, float("-inf"))
    weight = tl.exp(bent - tl.max(bent, axis=0))
    tl.store(out + row * columns + at, weight / tl.sum(weight, axis=0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x):
        low = x.to(torch.bfloat16)
        out = torch.empty_like(x)
        softmax_row[(x.shape[0],)](
            low, self.scale.to(torch.bfloat16), self.bias.to(torch.bfloat16), out,
            x.shape[1], self.cap, BLOCK=triton.next_power_of_2(x.shape[1]),
        )
        return out
