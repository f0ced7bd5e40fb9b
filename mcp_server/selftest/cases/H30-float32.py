# id: H30
# kind: a float32 Triton kernel on a CPU: correctness only
# task: starter/softmax
# expect: ok
# needs: cpu
# change: Triton without the maximum, powers of two, common factor dropped
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_row(x, scale, bias, out, columns, steep, drop, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    value *= tl.load(scale + at, mask=inside, other=0.0)
    value += tl.load(bias + at, mask=inside, other=0.0)
    weight = tl.exp2(drop / (tl.exp2(value * steep) + 1.0))
    weight = tl.where(inside, weight, 0.0)
    tl.store(out + row * columns + at, weight * (1.0 / tl.sum(weight, axis=0)), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, columns: int, cap: float) -> None:
        super().__init__()
        self.cap = cap
        self.scale = nn.Parameter(1.0 + 0.2 * torch.randn(columns))
        self.bias = nn.Parameter(0.5 * torch.randn(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        out = torch.empty_like(x)
        rows, columns = x.shape
        log2e = 1.4426950408889634
        softmax_row[(rows,)](
            x, self.scale, self.bias, out, columns, 2.0 * log2e / self.cap, -2.0 * log2e * self.cap,
            BLOCK=triton.next_power_of_2(columns), num_warps=16,
        )
        return out
