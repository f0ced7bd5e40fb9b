"""Blocks of a row in a loop; the block's size is tuned on the first call."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(
    [triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((2048, 4), (4096, 8), (8192, 16))],
    key=["classes"],
)
@triton.jit
def loss_kernel(logits, labels, out, classes, smoothing, penalty, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top = -float("inf")
    sums = 0.0
    total = 0.0
    for start in range(0, classes, BLOCK):
        c = start + tl.arange(0, BLOCK)
        inside = c < classes
        v = tl.load(logits + row * classes + c, inside, -float("inf"))
        higher = tl.maximum(top, tl.max(v, 0))
        sums = sums * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
        total += tl.sum(tl.where(inside, v, 0.0), 0)
    lse = top + tl.log(sums)
    hit = tl.load(logits + row * classes + tl.load(labels + row))
    loss = (1.0 - smoothing) * (lse - hit) + smoothing * (lse - total / classes)
    tl.store(out + row, loss + penalty * lse * lse)


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        out = logits.new_empty(logits.shape[0])
        loss_kernel[(logits.shape[0],)](
            logits, labels, out, logits.shape[1], self.smoothing, self.penalty
        )
        return out
