"""One log-sum-exp serves the loss and the penalty."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, smoothing, penalty):
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits, labels):
        lse = torch.logsumexp(logits, dim=-1)
        hit = logits.gather(1, labels[:, None]).squeeze(1)
        even = logits.mean(dim=-1)
        loss = lse - (1.0 - self.smoothing) * hit - self.smoothing * even
        return loss.addcmul_(lse, lse, value=self.penalty)
