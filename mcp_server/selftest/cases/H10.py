# id: H10
# kind: a large reduction in another order
# task: starter/cross-entropy
# expect: ok
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        parts = torch.stack([part.logsumexp(dim=-1) for part in logits.chunk(7, dim=-1)], dim=-1)
        partition = parts.logsumexp(dim=-1)
        chosen = logits.gather(-1, labels[:, None]).squeeze(-1)
        mean = sum(part.sum(dim=-1) for part in logits.chunk(7, dim=-1)) / logits.shape[-1]
        smooth = self.smoothing * mean + (1.0 - self.smoothing) * chosen
        return partition - smooth + self.penalty * partition * partition
