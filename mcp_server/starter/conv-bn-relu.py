"""Two convolutions, each with BatchNorm and ReLU, the second strided."""

import torch
import torch.nn as nn

if torch.cuda.is_available():
    batch, channels_in, channels, side = 32, 64, 128, 56
else:
    batch, channels_in, channels, side = 4, 16, 32, 40


class Model(nn.Module):
    """The opening of a convolutional network's stage."""

    def __init__(self, channels_in: int, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (batch, channels_in, side, side) to (batch, channels, side / 2, side / 2)."""
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)))


def get_inputs():
    return [torch.randn(batch, channels_in, side, side)]


def get_init_inputs():
    return [channels_in, channels]
