"""torch's own RMSNorm over the sum."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(1.0 + 0.2 * torch.randn(width))

    def forward(self, x, residual):
        total = x + residual
        return F.rms_norm(total, self.gain.shape, self.gain, self.epsilon), total
