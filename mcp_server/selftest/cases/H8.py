# id: H8
# kind: integers as inputs
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
        partition = torch.logsumexp(logits, dim=-1)
        chosen = logits.gather(-1, labels[:, None]).squeeze(-1)
        smooth = self.smoothing * logits.mean(dim=-1) + (1.0 - self.smoothing) * chosen
        return partition - smooth + self.penalty * partition.square()
