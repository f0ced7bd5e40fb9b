# id: K33
# kind: batch normalisation left out
# task: starter/conv-bn-relu
# expect: wrong_result/values
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels_in, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(self.conv2(torch.relu(self.conv1(x))))
