"""Cross-entropy of each row with label smoothing and a penalty on the log-partition."""

import torch
import torch.nn as nn
import torch.nn.functional as F

rows, classes = (1024, 32000) if torch.cuda.is_available() else (256, 8000)
smoothing, penalty = 0.1, 1e-2


class Model(nn.Module):
    """The loss of a language model's last layer, one number for each token."""

    def __init__(self, smoothing: float, penalty: float) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.penalty = penalty

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return losses of shape (rows,); logits are (rows, classes), labels int64 (rows,)."""
        loss = F.cross_entropy(logits, labels, reduction="none", label_smoothing=self.smoothing)
        return loss + self.penalty * torch.logsumexp(logits, dim=-1).square()


def get_inputs():
    return [2.0 * torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return [smoothing, penalty]
