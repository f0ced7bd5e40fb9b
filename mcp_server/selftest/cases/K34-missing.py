# id: K34
# kind: has no such parameters at all
# task: starter/softmax
# expect: runtime_error/state_mismatch | wrong_result/values
# needs: cpu
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, columns, cap):
        super().__init__()
        self.cap = cap

    def forward(self, x):
        return torch.softmax(self.cap * torch.tanh(x / self.cap), dim=-1)
