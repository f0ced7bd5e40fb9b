"""Log-probabilities once, everything else from them."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        logs = torch.log_softmax(logits, dim=-1)
        hit = logs.gather(1, labels[:, None]).squeeze(1)
        loss = -(1.0 - self.smoothing) * hit - self.smoothing * logs.mean(dim=-1)
        lse = logits[:, 0] - logs[:, 0]
        return loss + self.penalty * lse.square()
